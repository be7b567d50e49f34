//! The words that names are made of, as far as they matter for renames.

/// A sorted list of words, one space between two of them. As a single text: each element of a list of texts would take 40
/// bytes more of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words(&'static str);

impl Words {
    pub(super) fn contain(self, word: &str) -> bool {
        let mut left = self.0;
        while !left.is_empty() {
            let middle = left.len() / 2;
            let start = left[..middle].rfind(' ').map_or(0, |space| space + 1);
            let end = left[start..]
                .find(' ')
                .map_or(left.len(), |length| start + length);
            match left[start..end].cmp(word) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => left = left.get(end + 1..).unwrap_or_default(),
                std::cmp::Ordering::Greater => left = left[..start].trim_end(),
            }
        }
        false
    }
}

/// Opposites: a thing with one of these words is never renamed to the other. The first of a pair in the alphabet comes
/// first.
pub(super) const OPPOSITES: Words = Words(
    "above:below above:under absent:present accept:decline accept:refuse accept:reject acquire:release add:delete \
     add:remove add:subtract admin:guest admin:member admin:user advance:retreat after:before \
     aggregate:disaggregate ahead:behind all:mine all:none all:one all:own all:self all:single allow:block \
     allow:deny allow:forbid allowlist:blocklist allowlist:denylist answer:ask answer:question apply:plan \
     approve:deny approve:reject archive:restore arrive:depart artificial:natural asc:desc ascending:descending \
     ask:bid asset:liability asynchronous:synchronous attach:detach attack:defend automatic:manual \
     background:foreground backup:restore backward:forward ban:pardon begin:end begin:finish birth:death \
     blacklist:whitelist block:follow blue:green borrow:lend bottom:top break:fix break:seal bulk:single \
     busy:ready buy:sell buyer:seller cancel:confirm cancel:create cancel:schedule cancel:subscribe charge:refund \
     cheap:expensive child:parent clear:fill client:server clockwise:counterclockwise close:forward close:open \
     cold:hot collapse:expand column:row commit:rollback compose:decompose compress:expand compress:extract \
     conceal:reveal conceal:show confirm:deny connect:drop construct:destroy consumer:producer continue:pause \
     copy:cut create:delete create:destroy create:drop create:remove credit:debit customer:vendor dark:light \
     dawn:dusk day:night decline:rise decode:encode decrease:increase decrement:increment decrypt:encrypt \
     deep:shallow deflate:inflate delete:insert delete:read demote:promote deny:permit deposit:withdraw \
     destination:source development:production development:staging disable:enable discard:keep disengage:engage \
     dislike:like dismiss:hire dispatch:recall distrust:trust divide:multiply down:up download:upload \
     downstream:upstream draft:final draft:publish draft:send draw:erase dst:src earliest:latest early:late \
     earn:spend editor:viewer egress:ingress eject:mount employee:employer empty:fill empty:full end:start \
     engage:loosen enter:exit enter:leave entry:exit error:success even:odd exclude:include exhale:inhale \
     expense:income export:import expose:protect external:internal extract:insert fail:pass fail:succeed \
     failure:pass failure:success fall:rise false:true far:near fast:slow female:male few:many finish:start \
     fire:hire first:last float:sink fold:raise follow:lead forward:reverse found:lost freeze:thaw from:to \
     future:past gain:loss get:put get:set give:take grant:revoke greater:less grow:shrink halt:start hard:soft \
     head:tail height:width hidden:visible hide:show hit:miss hold:release horizontal:vertical host:sandbox \
     husband:wife illegal:legal in:out inbox:outbox increase:reduce inferior:superior input:output insert:remove \
     install:uninstall invalid:valid issue:revoke join:leave land:launch landlord:tenant landscape:portrait \
     large:small lat:lng lat:lon latitude:longitude left:right lend:return lenient:strict less:more link:unlink \
     live:sandbox live:test load:save load:store local:remote lock:release login:logoff login:logout long:short \
     loose:strict loosen:tighten lose:win loss:profit lower:raise lower:upper major:minor master:slave max:min \
     maximize:minimize maximum:minimum member:owner mentee:mentor merge:split minus:plus mount:unmount \
     narrow:widen negative:positive new:old newest:oldest next:prev next:previous no:yes off:on offline:online \
     open:seal open:shut pack:unpack park:unpark pause:play pause:resume pause:start peer:server permit:prohibit \
     pop:push preview:publish preview:send primary:secondary private:public production:sandbox production:staging \
     production:test publish:retract publisher:subscriber pull:push punish:reward purchase:sell \
     quarantine:release read:write reader:writer real:simulated recall:send receive:send receiver:sender \
     recipient:sender redo:undo retrieve:store roll:unroll root:user safe:unsafe shrink:zoom sign:void \
     signin:signout since:until sleep:wake source:target start:stop strengthen:weaken summer:winter \
     superuser:user trainee:trainer unwrap:wrap x:y",
);

/// Synonyms; the first of each group represents the others.
pub(super) const SYNONYMS: &[&[&str]] = &[
    &["address", "addr"],
    &["amount", "amt"],
    &["application", "app"],
    &["argument", "arg"],
    &["attribute", "attr"],
    &["authentication", "authn"],
    &["button", "btn"],
    &["calculate", "calc", "compute"],
    &["change", "modify", "edit", "update", "amend"],
    &["character", "char"],
    &["command", "cmd"],
    &["configuration", "config", "cfg"],
    &["connect", "conn"],
    &["context", "ctx"],
    &["count", "cnt"],
    &["create", "add"],
    &["database", "db"],
    &["delete", "del", "remove", "rm"],
    &["description", "desc"],
    &["development", "dev"],
    &["directory", "dir", "folder"],
    &["document", "doc"],
    &["duplicate", "clone", "copy"],
    &["email", "mail"],
    &["enumerate", "list", "ls"],
    &["environment", "env"],
    &["error", "err"],
    &["execute", "run", "exec"],
    &["extension", "ext"],
    &["function", "func", "fn"],
    &["get", "fetch", "retrieve"],
    &["height", "h"],
    &["identifier", "id"],
    &["image", "img", "picture"],
    &["index", "idx"],
    &["information", "info"],
    &["initialize", "init"],
    &["issue", "ticket"],
    &["job", "task"],
    &["language", "lang"],
    &["latitude", "lat"],
    &["length", "len"],
    &["longitude", "lon", "lng"],
    &["maximum", "max"],
    &["message", "msg"],
    &["minimum", "min"],
    &["number", "num"],
    &["object", "obj"],
    &["organization", "organisation", "org"],
    &["package", "pkg"],
    &["parameter", "param"],
    &["password", "passwd", "pwd"],
    &["preferences", "prefs"],
    &["previous", "prev"],
    &["production", "prod"],
    &["property", "prop"],
    &["query", "q"],
    &["reference", "ref"],
    &["repository", "repo"],
    &["request", "req"],
    &["response", "resp"],
    &["search", "find", "lookup"],
    &["show", "display"],
    &["source", "src", "from"],
    &["specification", "spec"],
    &["start", "begin"],
    &["statistics", "stats"],
    &["summarize", "summarise"],
    &["synchronize", "synchronise"],
    &["table", "tbl"],
    &["target", "destination", "dest", "dst", "to"],
    &["temperature", "temp"],
    &["temporary", "tmp"],
    &["timestamp", "ts"],
    &["transaction", "txn"],
    &["user", "usr"],
    &["utilities", "utils"],
    &["value", "val"],
    &["variable", "var"],
    &["verify", "validate"],
    &["width", "w"],
];

/// Verbs of reading that are used for each other, though they do not mean the same.
pub(super) const NEAR: &[&[&str]] = &[
    &[
        "browse",
        "describe",
        "display",
        "enumerate",
        "fetch",
        "get",
        "list",
        "load",
        "ls",
        "obtain",
        "read",
        "retrieve",
        "show",
        "view",
    ],
    &["find", "get", "locate", "lookup", "query", "search"],
    &["check", "test", "validate", "verify"],
    &[
        "analyse", "analyze", "examine", "explore", "inspect", "review", "scan",
    ],
    &["analyse", "analyze", "describe", "explain"],
    &["describe", "summarise", "summarize"],
    &["monitor", "watch"],
    &["compare", "diff"],
    &["calculate", "compute", "count", "estimate"],
    &["open", "read", "view"],
    &["preview", "show", "view"],
];

/// Prefixes that make another word of a word, often its opposite.
pub(super) const TURNING: &[&str] = &[
    "a", "anti", "auto", "co", "counter", "cross", "de", "dis", "down", "il", "im", "in", "inter",
    "ir", "mis", "multi", "non", "out", "over", "post", "pre", "re", "self", "sub", "super", "un",
    "under", "up",
];

/// Prefixes of which one turns a word into the opposite of what the other makes of it (`enqueue`,
/// `dequeue`).
pub(super) const TURNED: &[(&str, &str)] = &[
    ("as", "de"),
    ("at", "de"),
    ("en", "de"),
    ("en", "dis"),
    ("for", "back"),
    ("im", "ex"),
    ("in", "de"),
    ("in", "ex"),
    ("in", "out"),
    ("inter", "intra"),
    ("over", "under"),
    ("pre", "post"),
    ("up", "down"),
];

/// Words of tools that read.
pub(super) const READING: Words = Words(
    "analyse analyze ask browse calculate can check compare compute count describe detect diff display enumerate \
     estimate examine explain explore fetch find get has inspect is list locate lookup ls monitor obtain parse \
     peek preview print profile query read resolve retrieve review scan search select show summarise summarize \
     test trace validate verify view watch",
);

/// Words that promise that nothing happens: a thing that loses or gains one is another thing.
pub(super) const HARMLESS: Words = Words(
    "canary demo dry fake mock noop preview readonly sandbox sandboxed simulate simulated simulation simulator",
);

/// Words of tools that change something.
pub(super) const ACTING: Words = Words(
    "apply buy change charge commit create deploy edit grant insert install invite merge modify move mutate patch \
     pay post publish push put save sell send set share shell submit trade transfer update upload withdraw",
);

/// Words that name secrets: a thing that gains one is another thing.
pub(super) const SECRET: Words = Words(
    "apikey cookie credential credentials cvv otp passcode passphrase passwd password passwords privatekey pwd \
     secret secrets ssn token tokens",
);

/// Words that make something destructive: a thing that gains one is not just renamed.
pub(super) const DESTRUCTIVE: Words = Words(
    "abort anonymize ban bypass cancel clear close delete destroy discard drop eject erase escalate evict exec \
     execute expel expire flush force forget format impersonate invalidate kick kill nuke override overwrite \
     prune purge refund remove reset retract revoke rm rollback scrub shred shutdown spoof sudo suspend terminate \
     trash truncate uninstall void wipe write",
);

/// Words for more than what was meant before.
pub(super) const SCOPE: Words = Words(
    "all any batch bulk entire every everyone everything everywhere global mass recursive unlimited unrestricted \
     whole wildcard",
);

/// Words for what only some may see or do.
pub(super) const PRIVILEGED: Words = Words(
    "admin administrator classified confidential elevated hidden internal kernel live personal private privileged \
     production restricted root sudo super superuser unsafe",
);

/// Verbs that only say that something is done.
pub(super) const LIGHT: Words =
    Words("call do execute handle invoke make perform process run start take trigger use");

/// Words that say nothing about what is done.
pub(super) const QUALIFYING: Words = Words(
    "advanced alpha api async basic beta classic compat deprecated enhanced experimental extended full improved \
     legacy lite mcp new next simple stable tool",
);

/// Words that make another member of a member.
pub(super) const CONTRASTING: Words = Words(
    "average avg child except exclude excluded max maximum min minimum no non not old other parent previous sub \
     total without",
);

/// Verbs that name a thing just as often: `list_orders` lists, `mailing_list` does not.
pub(super) const AMBIGUOUS: Words = Words(
    "alert anchor attack audit award backup balance block bookmark boost boot break broadcast build burn call \
     cast center challenge change charge chat check claim clone comment commit contact copy count credit cut \
     debit deploy deposit design display download draw drive drop dump embed end estimate exchange exit export \
     favorite feed filter fire fix flag flash flip focus fork grant guess hold import jump kick land lift like \
     link list load lock log mark match measure merge mirror mount move mute offer pack pass patch pause pay pick \
     plan play plot poll post press print process produce pull push query queue raise reach release rent reply \
     request reserve reset return review ring roll route run scale scan schedule seal search seed set share shift \
     ship sign sort spend split stage stake start stop store stream swap switch sync tag test touch trace track \
     trade train transfer transition trust tune turn type update upload use view visit vote wake watch win wrap \
     zip zoom",
);

/// Verbs: what a tool does. Words that more often name a thing are not among them.
pub(super) const VERBS: Words = Words(
    "abort accept acknowledge acquire activate adapt add adjust admit adopt advance advertise aggregate alert \
     align allocate allow alter amend analyse analyze anchor annotate announce anonymize append apply appoint \
     approve archive arm arrange ask assess assign associate attach attack audit augment authenticate authorize \
     automate award backfill backup balance ban bind blacklist block blur bookmark boost boot borrow break \
     broadcast browse build burn buy bypass calculate calibrate call cancel capture cast center certify challenge \
     change charge chat check choose claim classify clean clear click clone close collapse collect combine \
     comment commit compact compare compile complete compose compress compute concatenate conceal configure \
     confirm connect consolidate construct consume contact continue convert copy correct count crawl create \
     credit crop cut deactivate debit debug decide declare decline decode decompress decrease decrement decrypt \
     dedupe defer define deflate defrag delegate delete deliver demote deny deploy deposit deprecate deprovision \
     deregister derive describe deselect design destroy detach detect determine diff disable disapprove disarm \
     discard disconnect discover dismiss dispatch display dispose dissolve distribute divert divide do download \
     drag drain draw drive drop dump duplicate earn edit eject elevate embed emit empty emulate enable encode \
     encrypt end endorse enforce engage enqueue enrich ensure enter enumerate erase escalate establish estimate \
     evacuate evaluate evict examine exchange exclude exec execute exempt exfiltrate exit expand expel expire \
     explain explore export expose extend extract fail favorite feed fetch fill filter finalize find finish fire \
     fix flag flash flip flush focus fold follow force forge forget fork forward freeze generate geocode get give \
     grant grep guess halt handle harvest hide hijack hire hold hover identify ignore impersonate import include \
     increase increment infer inflate ingest inhibit init initialize inject insert inspect install instantiate \
     interrupt invalidate invest invite invoke isolate join jump keep kick kill land launch leave lift like link \
     liquidate list listen load locate lock log login logout lookup loosen lose lower ls maintain make manage \
     mark match measure merge migrate mint mirror mitigate modify monitor mount move multiply mutate mute \
     navigate negotiate normalize notify nuke obtain offer open optimize override overwrite pack pardon parse \
     pass paste patch pause pay peek perform permit persist pick ping plan play plot poll pop populate post \
     postpone predict prepare press preview print process produce prohibit promote propose protect provision \
     prune publish pull punish purchase purge push put quarantine query queue quit raise reach read reassign \
     reboot rebuild recall receive recommend reconcile recover recreate redact redeem redirect redo reduce \
     refactor refill refresh refund regenerate register reindex reject release reload relocate remember remind \
     remove rename render renew rent reopen repair replace replay replicate reply repost request require reroute \
     reschedule resend reserve reset resize resolve respond restart restore restrict resume retire retract \
     retrieve retry return reveal reverse revert review revise revoke rewrite ring rm roll rollback rotate route \
     run sanitize save scale scan schedule scrape scroll scrub seal search secure seed seize select sell send \
     serve set share shift ship show shred shrink shuffle shut shutdown sign silence simulate skip sleep snooze \
     solve sort spawn speak spend split spoof stage stake start stash stop store stream strip submit subscribe \
     subtract sudo suggest summarise summarize surrender suspend swap swipe switch sync synchronize synthesize \
     tag take tap terminate test thaw throttle tighten toggle touch trace track trade train transcode transcribe \
     transfer transform transition translate transmit trash trigger trim truncate trust tune turn type unarchive \
     unassign unban unblock uncheck undelete undeploy undo unfollow unfreeze uninstall unlink unlock unmount \
     unmute unpin unpublish unregister unshare unsubscribe update upgrade upload upsert use vacate vacuum \
     validate verify view visit void vote wait wake warm warn watch whitelist win wipe withdraw wrap write yank \
     zip zoom",
);

/// After these words, `v4` is not a version.
pub(super) const KINDS: Words = Words("guid ip tls ulid utf uuid");

/// Endings that make another form of a word: what is before them is not a word of its own.
pub(super) const ENDINGS: Words =
    Words("able al ation ed ee en ener er es ing ion ive ly ment ness or ory ure");

/// Words for that by which a thing is found: one is often exchanged for another.
pub(super) const IDENTIFYING: Words = Words("id identifier idx index key ref");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_list_is_found_and_nothing_else() {
        let lists = [
            ACTING,
            AMBIGUOUS,
            CONTRASTING,
            DESTRUCTIVE,
            ENDINGS,
            HARMLESS,
            IDENTIFYING,
            KINDS,
            LIGHT,
            OPPOSITES,
            PRIVILEGED,
            QUALIFYING,
            READING,
            SCOPE,
            SECRET,
            VERBS,
        ];
        for list in lists {
            let words: Vec<&str> = list.0.split(' ').collect();
            assert!(words.is_sorted(), "{list:?}");
            for word in words {
                assert!(!word.is_empty(), "{list:?}");
                assert!(list.contain(word), "{word}");
                let (longer, shorter) = (format!("{word}~"), &word[..word.len() - 1]);
                let whole = |it: &str| list.0.split(' ').any(|word| word == it);
                assert_eq!(list.contain(&longer), whole(&longer));
                assert_eq!(list.contain(shorter), whole(shorter));
            }
            assert!(!list.contain("") && !list.contain("~"));
        }
    }

    #[test]
    fn opposites_are_pairs_in_the_order_of_the_alphabet() {
        for pair in OPPOSITES.0.split(' ') {
            let (one, other) = pair.split_once(':').unwrap();
            assert!(one < other, "{pair}");
        }
    }
}
