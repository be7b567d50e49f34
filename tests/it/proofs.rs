//! Proofs that were refuted once, by name, each with its mirror: the same sender and receiver on the other side.
//! What a verdict means is stated in `docs/proofs.md`.

use mcp_keel::canonical::{Json, parse_str, to_compact};
use mcp_keel::judgement::{Level, Proof};
use mcp_keel::schema::{SchemaComparison, Side, compare};

pub(crate) fn json(text: &str) -> Json {
    parse_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A sender's schema and a receiver's, on both sides.
pub(crate) fn both(sender: &str, receiver: &str) -> [(Side, SchemaComparison); 2] {
    let (sender, receiver) = (json(sender), json(receiver));
    [
        (Side::Input, compare(&sender, &receiver, Side::Input)),
        (Side::Output, compare(&receiver, &sender, Side::Output)),
    ]
}

/// A call breaks, and a change says so with a rule that names what happened.
fn breaks(name: &str, sender: &str, receiver: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (side, found) in both(sender, receiver) {
        let at = format!("{name}, {side:?}");
        if !matches!(found.verdict, Proof::Witness(_)) {
            wrong.push(format!("{at}: {:?}", found.verdict));
        }
        let carried: Vec<&str> = found
            .changes
            .iter()
            .filter(|it| matches!(it.proof, Some(Proof::Witness(_))))
            .map(|it| it.rule.id())
            .collect();
        if carried.is_empty() {
            wrong.push(format!("{at}: no change carries the witness: {found:?}"));
        }
        let vague = [
            "equivalent-restructured",
            "spelling-changed",
            "definitions-changed",
            "unclassified",
        ];
        if carried
            .iter()
            .any(|rule| vague.iter().any(|it| rule.ends_with(it)))
        {
            wrong.push(format!("{at}: {carried:?}"));
        }
        for change in &found.changes {
            let witness = matches!(change.proof, Some(Proof::Witness(_)));
            if witness != (change.level == Level::Breaking) {
                wrong.push(format!("{at}: {change:?}"));
            }
        }
    }
    wrong
}

const BROKEN: &[(&str, &str, &str)] = &[
    (
        "beside an annotation with a value that it must not have",
        r#"{"properties":{"x":{"type":"number"},"z":{"type":"string","title":null,"description":null,"deprecated":"no"}}}"#,
        r#"{"properties":{"x":{"type":"string"},"z":{"type":"string","title":null,"description":null,"deprecated":"no"}}}"#,
    ),
    (
        "an alternative of which others are left, beside such an annotation",
        r#"{"properties":{"x":{"anyOf":[{"type":"object","properties":{"n":{"type":"string"}}},{"title":"A","type":"string"},{"type":"string"}]},"z":{"type":"string","description":null}},"required":["x"]}"#,
        r#"{"properties":{"x":{"anyOf":[{"type":"object","properties":{"n":{"type":"string"}}},{"title":"A","type":"number"},{"type":"number"}]},"z":{"type":"string","description":null}},"required":["x"]}"#,
    ),
    // A. The verdict on the pair must reach the changes.
    (
        "W1: the target of a reference under a pattern",
        r##"{"properties":{"m":{"patternProperties":{"^(.*)$":{"$ref":"#/$defs/R"}}}},"$defs":{"R":{"type":"string"}}}"##,
        r##"{"properties":{"m":{"patternProperties":{"^(.*)$":{"$ref":"#/$defs/R"}}}},"$defs":{"R":{"type":"integer"}}}"##,
    ),
    (
        "W9: the target of a reference under propertyNames",
        r##"{"properties":{"m":{"type":"object","propertyNames":{"$ref":"#/$defs/R"}}},"$defs":{"R":{"maxLength":100}}}"##,
        r##"{"properties":{"m":{"type":"object","propertyNames":{"$ref":"#/$defs/R"}}},"$defs":{"R":{"maxLength":50}}}"##,
    ),
    (
        "W12: the target of a reference beside unevaluatedItems",
        r##"{"properties":{"k":{"items":{"$ref":"#/$defs/D"},"unevaluatedItems":false}},"$defs":{"D":{}}}"##,
        r##"{"properties":{"k":{"items":{"$ref":"#/$defs/D"},"unevaluatedItems":false}},"$defs":{"D":{"maxItems":2}}}"##,
    ),
    (
        "W2: a resource inside the document",
        r##"{"properties":{"a":{"$ref":"T"}},"$defs":{"T":{"$id":"T","type":"string"}}}"##,
        r##"{"properties":{"a":{"$ref":"T"}},"$defs":{"T":{"$id":"T","type":"integer"}}}"##,
    ),
    (
        "W3: a free-form object declares a member",
        r#"{"properties":{"f":{"type":"object"}}}"#,
        r#"{"properties":{"f":{"type":"object","properties":{"q":{"type":"string"}}}}}"#,
    ),
    (
        "W3: a free-form root declares a member",
        r#"{"type":"object"}"#,
        r#"{"type":"object","properties":{"q":{"type":"string"}}}"#,
    ),
    (
        "W4: a map declares a member of another type",
        r#"{"properties":{},"additionalProperties":{"type":"string"}}"#,
        r#"{"properties":{"n":{"type":"number"}},"additionalProperties":{"type":"string"}}"#,
    ),
    (
        "W11: a member that a pattern declared is declared by name",
        r#"{"properties":{"a":{"type":"string"}},"patternProperties":{"^x":{"type":"integer"}}}"#,
        r#"{"properties":{"a":{"type":"string"},"xa":{"type":"string"}},"patternProperties":{"^x":{"type":"integer"}}}"#,
    ),
    (
        "W5: a discriminator that no longer discriminates",
        r#"{"properties":{"o":{"oneOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}]}}}"#,
        r#"{"properties":{"o":{"oneOf":[{"type":"object","properties":{"k":{}},"required":["k"]},{"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}]}}}"#,
    ),
    (
        "W6: a branch that swallows another",
        r#"{"properties":{"o":{"oneOf":[{"enum":[""]},{"type":"null"}]}}}"#,
        r#"{"properties":{"o":{"oneOf":[{},{"type":"null"}]}}}"#,
    ),
    (
        "W7: an added branch of oneOf overlaps",
        r#"{"properties":{"o":{"oneOf":[{"type":"integer","minimum":20}]}}}"#,
        r#"{"properties":{"o":{"oneOf":[{"type":"integer","minimum":20},{"type":"integer","minimum":500,"maximum":600}]}}}"#,
    ),
    (
        "W8: a pattern of names is gone",
        r#"{"properties":{"o":{"patternProperties":{"^k_[0-9]{7}$":{}},"additionalProperties":false}}}"#,
        r#"{"properties":{"o":{"additionalProperties":false}}}"#,
    ),
    (
        "W10: enum beside const",
        r#"{"properties":{"l":{"items":{"const":"x"}}}}"#,
        r#"{"properties":{"l":{"items":{"const":"x","enum":["b"]}}}}"#,
    ),
    (
        "W13: dependentSchemas evaluated a member",
        r#"{"properties":{"a":{}},"dependentSchemas":{"a":{"properties":{"b":{}}}},"unevaluatedProperties":false}"#,
        r#"{"properties":{"a":{}},"unevaluatedProperties":false}"#,
    ),
    (
        "prefixItems means nothing in draft 7",
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"l":{"type":"array","prefixItems":[{"type":"string"}]}}}"#,
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"l":{"type":"array","prefixItems":[{"type":"string"}]}}}"#,
    ),
    // B. What is declared is a matter of the whole place.
    (
        "C1: a required name that nothing declares",
        r#"{"properties":{"a":{"type":"string"}},"required":["b"]}"#,
        r#"{"properties":{"a":{"type":"integer"}},"required":["b"]}"#,
    ),
    (
        "C2: as many members as are required",
        r#"{"properties":{"a":{"type":"string"}},"required":["b"],"minProperties":2}"#,
        r#"{"properties":{"a":{"type":"integer"}},"required":["b"],"minProperties":2}"#,
    ),
    (
        "C2: as many members as are declared",
        r#"{"properties":{"a":{"type":"string"},"b":{}},"minProperties":2}"#,
        r#"{"properties":{"a":{"type":"integer"},"b":{}},"minProperties":2}"#,
    ),
    (
        "C3: two schemas declare one place",
        r#"{"allOf":[{"properties":{"c":{"properties":{"x":{"type":"string"}}}}},{"properties":{"c":{"properties":{"y":{}}}}}]}"#,
        r#"{"allOf":[{"properties":{"c":{"properties":{"x":{"type":"integer"}}}}},{"properties":{"c":{"properties":{"y":{}}}}}]}"#,
    ),
    (
        "C4: then requires what it declares",
        r#"{"properties":{"c":{"properties":{"x":{"type":"string"}}}},"if":true,"then":{"properties":{"c":{"required":["y"]}},"required":["c"]}}"#,
        r#"{"properties":{"c":{"properties":{"x":{"type":"integer"}}}},"if":true,"then":{"properties":{"c":{"required":["y"]}},"required":["c"]}}"#,
    ),
    (
        "C5: anyOf and oneOf declare together",
        r#"{"anyOf":[{"properties":{"a":{}},"required":["a"]}],"oneOf":[{"properties":{"c":{"type":"string"}},"required":["c"]}]}"#,
        r#"{"anyOf":[{"properties":{"a":{}},"required":["a"]}],"oneOf":[{"properties":{"c":{"type":"integer"}},"required":["c"]}]}"#,
    ),
    (
        "C6: a reference and oneOf declare together",
        r##"{"properties":{"i":{"$ref":"#/$defs/B","oneOf":[{"properties":{"x":{"type":"string"}},"required":["x"]}]}},"$defs":{"B":{"properties":{"id":{}},"required":["id"]}}}"##,
        r##"{"properties":{"i":{"$ref":"#/$defs/B","oneOf":[{"properties":{"x":{"type":"integer"}},"required":["x"]}]}},"$defs":{"B":{"properties":{"id":{}},"required":["id"]}}}"##,
    ),
    (
        "C7: anyOf becomes oneOf",
        r#"{"anyOf":[{"properties":{"p":{}},"required":["p"]},{"properties":{"u":{}},"required":["u"]}]}"#,
        r#"{"oneOf":[{"properties":{"p":{}},"required":["p"]},{"properties":{"u":{}},"required":["u"]}]}"#,
    ),
    (
        "C8: items and contains declare together",
        r#"{"properties":{"l":{"type":"array","items":{"properties":{"v":{"type":"integer"}}},"contains":{"properties":{"k":{}},"required":["k"]}}}}"#,
        r#"{"properties":{"l":{"type":"array","items":{"properties":{"v":{"type":"string"}}},"contains":{"properties":{"k":{}},"required":["k"]}}}}"#,
    ),
    (
        "C9: a name and a pattern declare one member",
        r#"{"properties":{"meta":{"properties":{"a":{"type":"string"}}}},"patternProperties":{"^m":{"properties":{"b":{}}}}}"#,
        r#"{"properties":{"meta":{"properties":{"a":{"type":"integer"}}}},"patternProperties":{"^m":{"properties":{"b":{}}}}}"#,
    ),
    (
        "an explicit additionalProperties: true is open",
        r#"{"properties":{"a":{}},"additionalProperties":true}"#,
        r#"{"properties":{"a":{}},"additionalProperties":false}"#,
    ),
    // C. Formats and encodings are annotations.
    (
        "A1: a format does not narrow what is sent",
        r#"{"properties":{"at":{"type":"string","format":"date-time"},"tz":{"type":"string"}}}"#,
        r#"{"properties":{"at":{"type":"string","format":"date-time"},"tz":{"type":"string"}},"if":{"properties":{"at":{"const":"now"}},"required":["at"]},"then":{"properties":{"tz":{"enum":["UTC"]}}}}"#,
    ),
    (
        "A2: an encoding does not narrow what is sent",
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"d":{"type":"string","contentEncoding":"base64"}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"d":{"type":"string","contentEncoding":"base64","not":{"const":"b"}}}}"#,
    ),
    // D. Keywords that look at what others have looked at, and references of several kinds.
    (
        "S1: unevaluatedItems beside not",
        r#"{"properties":{"l":{"type":"array"}}}"#,
        r#"{"properties":{"l":{"type":"array","unevaluatedItems":false,"not":{"type":"string"}}}}"#,
    ),
    (
        "S1: additionalProperties beside not",
        r#"{"properties":{"o":{"type":"object"}}}"#,
        r#"{"properties":{"o":{"type":"object","additionalProperties":false,"not":{"type":"string"}}}}"#,
    ),
    (
        "S1: unevaluatedItems beside additionalProperties",
        r#"{"properties":{"l":{"type":"array"}}}"#,
        r#"{"properties":{"l":{"type":"array","unevaluatedItems":false,"additionalProperties":{"type":"string"}}}}"#,
    ),
    (
        "S2: $ref beside $dynamicRef",
        r##"{"properties":{"a":{"$ref":"#/$defs/A","$dynamicRef":"#d"}},"$defs":{"A":{},"D":{"$dynamicAnchor":"d"}}}"##,
        r##"{"properties":{"a":{"$ref":"#/$defs/A","$dynamicRef":"#d"}},"$defs":{"A":{},"D":{"$dynamicAnchor":"d","type":"string"}}}"##,
    ),
    (
        "S3: a reference inside a resource with definitions of its own",
        r##"{"properties":{"a":{"$ref":"T"}},"$defs":{"R":{},"T":{"$id":"T","$ref":"#/$defs/R","$defs":{"R":{}}}}}"##,
        r##"{"properties":{"a":{"$ref":"T"}},"$defs":{"R":{},"T":{"$id":"T","$ref":"#/$defs/R","$defs":{"R":{"type":"string"}}}}}"##,
    ),
    (
        "if means nothing in draft 6",
        r#"{"$schema":"http://json-schema.org/draft-06/schema#","properties":{"a":{"if":true,"then":{"type":"string"}}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-06/schema#","properties":{"a":{"type":"string"}}}"#,
    ),
    (
        "an if that looks at no item decides which branch looks",
        r#"{"properties":{"l":{"type":"array"}}}"#,
        r#"{"properties":{"l":{"type":"array","if":{"minItems":2},"else":{"items":true},"unevaluatedItems":false}}}"#,
    ),
    (
        "an if that looks at no member decides which branch looks",
        r#"{"properties":{"o":{"type":"object"}}}"#,
        r#"{"properties":{"o":{"type":"object","if":{"maxProperties":1},"then":{"additionalProperties":true},"unevaluatedProperties":false}}}"#,
    ),
    (
        "a name that no pattern beside unevaluatedProperties matches",
        r#"{"properties":{"o":{"type":"object"}}}"#,
        r#"{"properties":{"o":{"type":"object","patternProperties":{"^[a-z]":{}},"unevaluatedProperties":false}}}"#,
    ),
    (
        "a schema that is excluded twice declares nothing",
        r#"{"properties":{"f":{"not":{"not":{"properties":{"a":{"type":"string"}}}}}}}"#,
        r#"{"properties":{"f":{"not":{"not":{"properties":{"a":{"type":"string"}}}},"properties":{"b":{"type":"string"}}}}}"#,
    ),
    (
        "a branch that refuses declares nothing by what it excludes",
        r#"{"properties":{"f":{"type":"object","oneOf":[true,{"not":{"properties":{"a":{"type":"string"}}}}]}}}"#,
        r#"{"properties":{"f":{"type":"object","oneOf":[true,{"not":{"properties":{"a":{"type":"string"}}}}],"properties":{"b":{"type":"string"}}}}}"#,
    ),
    (
        "an inner level of a recursive model declares more",
        r##"{"properties":{"r":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"next":{"$ref":"#/$defs/A"}},"patternProperties":{"^n":{"$ref":"#/$defs/B"}}},"B":{"properties":{"y":{"type":"string"}}}}}"##,
        r##"{"properties":{"r":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"next":{"$ref":"#/$defs/A"},"y":{"type":"integer"}},"patternProperties":{"^n":{"$ref":"#/$defs/B"}}},"B":{"properties":{"y":{"type":"string"}}}}}"##,
    ),
    // A receiver that accepts nothing any more.
    (
        "everything is refused",
        r#"{"properties":{"a":{"type":"string"}}}"#,
        r#"{"properties":{"a":{"type":"string"}},"allOf":[{"type":"object"},{"type":"string"}]}"#,
    ),
    (
        "a required name that is listed twice",
        r#"{"properties":{"a":{"type":"string"}},"required":["a","a"]}"#,
        r#"{"properties":{"a":{"type":"integer"}},"required":["a","a"]}"#,
    ),
    // What used to be undecided.
    (
        "maxLength from 100,000 to 50,000",
        r#"{"properties":{"a":{"type":"string","maxLength":100000}}}"#,
        r#"{"properties":{"a":{"type":"string","maxLength":50000}}}"#,
    ),
    (
        "multipleOf 0.01 added",
        r#"{"properties":{"a":{"type":"number"}}}"#,
        r#"{"properties":{"a":{"type":"number","multipleOf":0.01}}}"#,
    ),
    (
        "multipleOf 3 with an exclusive bound",
        r#"{"properties":{"a":{"type":"integer","multipleOf":3}}}"#,
        r#"{"properties":{"a":{"type":"integer","multipleOf":3,"exclusiveMaximum":10}}}"#,
    ),
    (
        "maxProperties of a map",
        r#"{"properties":{"m":{"type":"object"}}}"#,
        r#"{"properties":{"m":{"type":"object","maxProperties":1}}}"#,
    ),
    (
        "a reference that leads back to itself, where nothing leads to it",
        r#"{"properties":{"id":{"enum":["a","b"]}},"required":["id"],"additionalProperties":false}"#,
        r##"{"properties":{},"additionalProperties":false,"$defs":{"X":{"$ref":"#/$defs/X"}}}"##,
    ),
    (
        "a reference that leads back to itself, and a call that does not meet it",
        r##"{"properties":{"a":{"$ref":"#/$defs/D"},"b":{}},"$defs":{"D":{"type":"integer"}}}"##,
        r##"{"properties":{"a":{"$ref":"#/$defs/D"},"b":{}},"required":["b"],"$defs":{"D":{"$ref":"#/$defs/D","minimum":2}}}"##,
    ),
    (
        "a branch that declares only where it accepts",
        r#"{"type":"object","anyOf":[{"properties":{"note":{},"city":{"type":"number"}},"required":["city"]},{"properties":{"city":{},"coords":{}},"if":{"properties":{"city":{"const":"json"}},"required":["city"]},"else":{"not":{"required":["coords"]}}}]}"#,
        r#"{"type":"object","anyOf":[{"properties":{"note":{},"city":{"type":"number"}},"required":["city"],"additionalProperties":false},{"properties":{"city":{},"coords":{}},"if":{"properties":{"city":{"const":"json"}},"required":["city"]},"else":{"required":["id"]}}]}"#,
    ),
    (
        "no item is allowed any more",
        r#"{"properties":{"l":{"type":"array","items":true}}}"#,
        r#"{"properties":{"l":{"type":"array","items":false}}}"#,
    ),
    (
        "contains evaluates the items that it matches and no other",
        r#"{"properties":{"l":{"type":"array"}}}"#,
        r#"{"properties":{"l":{"type":"array","contains":{"type":"integer"},"minContains":0,"unevaluatedItems":false}}}"#,
    ),
    (
        "contains in a branch evaluates items too",
        r#"{"properties":{"l":{"type":"array","prefixItems":[{}],"anyOf":[{"contains":{"const":1}},{"maxItems":1}],"unevaluatedItems":false}}}"#,
        r#"{"properties":{"l":{"type":"array","prefixItems":[{}],"anyOf":[{"contains":{"const":2}},{"maxItems":1}],"unevaluatedItems":false}}}"#,
    ),
    (
        "an anchor that the new draft does not have, and a member that is refused anyway",
        r##"{"properties":{"a":{"$ref":"#unit"},"n":{"type":"integer","maximum":10}},"required":["a"],"$defs":{"U":{"$anchor":"unit","type":"string"}}}"##,
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#unit"},"n":{"type":"integer","maximum":5}},"required":["a"],"$defs":{"U":{"$anchor":"unit","type":"string"}}}"##,
    ),
    (
        "a union that contains itself, and a call that does not meet it",
        r##"{"properties":{"a":{"items":{"$ref":"#/$defs/U"}},"b":{"type":"string"}},"required":["a"],"$defs":{"U":{"anyOf":[{"type":"string"},{"type":"null"}]}}}"##,
        r##"{"properties":{"a":{"items":{"$ref":"#/$defs/U"}},"b":{"type":"integer"}},"required":["a"],"$defs":{"U":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/U"}]}}}"##,
    ),
    (
        "a union that contains itself through another, and what its other branch accepts",
        r##"{"properties":{"a":{"$ref":"#/$defs/U"},"b":{"type":"string"}},"$defs":{"U":{"anyOf":[{"type":"string"},{"allOf":[{"$ref":"#/$defs/U"}]}]}}}"##,
        r##"{"properties":{"a":{"$ref":"#/$defs/U"},"b":{"type":"integer"}},"$defs":{"U":{"anyOf":[{"type":"string"},{"allOf":[{"$ref":"#/$defs/U"}]}]}}}"##,
    ),
    (
        "a fraction beside a bound above 64 bits",
        r#"{"properties":{"n":{"type":"number","minimum":0,"maximum":18446744073709551615}}}"#,
        r#"{"properties":{"n":{"type":"integer","minimum":0,"maximum":18446744073709551617}}}"#,
    ),
    (
        "a look-ahead",
        r#"{"properties":{"a":{"type":"string"}}}"#,
        r#"{"properties":{"a":{"type":"string","pattern":"^(?!tmp)"}}}"#,
    ),
    (
        "letters of any script",
        r#"{"properties":{"a":{"type":"string","pattern":"^\\p{L}+$"}}}"#,
        r#"{"properties":{"a":{"type":"string","pattern":"^[a-z]+$"}}}"#,
    ),
    (
        "the last branch of a union that refers to itself",
        r##"{"type":"object","properties":{"items":{"anyOf":[{"anyOf":[{"enum":[1]},{"enum":[3]},{"$ref":"#/$defs/R2"}]},{"type":"string"},{"anyOf":[{"anyOf":[{"type":"number","minimum":-10,"maximum":5},{"type":"string","minLength":2,"maxLength":255},{"type":"string","enum":["xml"]}]},{"anyOf":[{"$ref":"#/$defs/D4"},{"type":"object","properties":{"kind":{"type":"string","const":"k1"},"units":{"enum":[[],{},false,true,null]},"ratio":{"type":"string","minLength":0}},"required":["kind","ratio"],"additionalProperties":false},{"type":"object","properties":{"kind":{"type":"string","const":"z"},"count":{"type":"integer","exclusiveMaximum":100}},"additionalProperties":false,"required":["kind"]}]}]}]}},"required":["items"],"additionalProperties":false,"$defs":{"R2":{"type":"object","properties":{"v":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/R2"}}},"required":["v"],"additionalProperties":false,"propertyNames":{"maxLength":4}},"D3":{"type":"boolean"},"D4":{"type":"object","properties":{"kind":{"type":"string","const":"a"},"coords":{"$ref":"#/$defs/D3"},"timeout":{"type":"integer","multipleOf":2}},"additionalProperties":false,"required":["kind"]}}}"##,
        r##"{"type":"object","properties":{"items":{"anyOf":[{"anyOf":[{"enum":[1]},{"enum":[3]},{"$ref":"#/$defs/R2"}]},{"type":"string"},{"anyOf":[{"anyOf":[{"type":"number","minimum":-10,"maximum":5},{"type":"string","minLength":2,"maxLength":255},{"type":"string","enum":["xml"]}]},{"anyOf":[{"$ref":"#/$defs/D4"},{"type":"object","properties":{"kind":{"type":"string","const":"k1"},"units":{"enum":[[],{},false,true,null]},"ratio":{"type":"string","minLength":0}},"required":["kind","ratio"],"additionalProperties":false},{"type":"object","properties":{"kind":{"type":"string","const":"k2"},"count":{"type":"integer","exclusiveMaximum":100}},"additionalProperties":false,"required":["kind"]}]}]}]}},"required":["items"],"additionalProperties":false,"$defs":{"R2":{"type":"object","properties":{"v":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/R2"}}},"required":["v"],"additionalProperties":false},"D3":{"type":"boolean"},"D4":{"type":"object","properties":{"kind":{"type":"string","const":"k0"},"coords":{"$ref":"#/$defs/D3"},"timeout":{"type":"integer","multipleOf":2}},"additionalProperties":false,"required":["kind"]}}}"##,
    ),
    // E. Texts and numbers.
    (
        "a number between two bounds closer than a thousandth",
        r#"{"properties":{"n":{"type":"number","minimum":0.0001,"maximum":0.0003}}}"#,
        r#"{"properties":{"n":{"type":"number","minimum":0.0002,"maximum":0.0003}}}"#,
    ),
    (
        "a tiny exclusive bound",
        r#"{"properties":{"n":{"type":"number","exclusiveMinimum":0}}}"#,
        r#"{"properties":{"n":{"type":"number","minimum":1e-7}}}"#,
    ),
    (
        "a bound that is no longer exclusive, in draft 4",
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"n":{"type":"number","minimum":0.00001,"maximum":0.00002}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"n":{"type":"number","minimum":0.00001,"exclusiveMinimum":true,"maximum":0.00002}}}"#,
    ),
    (
        "a list of values with a long one",
        r#"{"properties":{"s":{"type":"string","pattern":"^[p-w]$"}}}"#,
        r#"{"properties":{"s":{"enum":["p","xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]}}}"#,
    ),
    (
        "a bound beyond 64 bits, and a value elsewhere",
        r#"{"properties":{"n":{"type":["integer","null"],"minimum":18446744073709551617,"maximum":18446744073709551618}}}"#,
        r#"{"properties":{"n":{"const":1}}}"#,
    ),
    (
        "an exclusive bound without a bound, in draft 4",
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"n":{"type":"integer","exclusiveMinimum":true}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"n":{"type":"integer","exclusiveMinimum":true,"minimum":5}}}"#,
    ),
    (
        "a bound at the end of 64 bits",
        r#"{"properties":{"n":{"type":"number","minimum":0,"maximum":36893488147419103230}}}"#,
        r#"{"properties":{"n":{"type":"number","minimum":0,"maximum":18446744073709551615}}}"#,
    ),
    (
        "one name that two alternatives refuse",
        r#"{"type":"object","propertyNames":{"enum":["a","b","c"]},"maxProperties":1}"#,
        r#"{"type":"object","anyOf":[{"propertyNames":{"enum":["a","b"]}},{"propertyNames":{"enum":["a"]}}]}"#,
    ),
    (
        "one name that is excluded twice",
        r#"{"properties":{"m":{"type":"object","maxProperties":1,"not":{"propertyNames":{"pattern":"^key$"}}}}}"#,
        r#"{"properties":{"m":{"type":"object","propertyNames":{"minLength":2}}}}"#,
    ),
    (
        "one name of several, beside a number of members",
        r#"{"properties":{"m":{"type":"object"}}}"#,
        r#"{"properties":{"m":{"type":"object","anyOf":[{"propertyNames":{"pattern":"^[^k]"}},{"propertyNames":{"const":"key"}},{"minProperties":2},{"maxProperties":0}]}}}"#,
    ),
    (
        "nullable in a schema of OpenAPI's components",
        r##"{"properties":{"o":{"$ref":"#/components/schemas/X"}},"components":{"schemas":{"X":{"type":"string","nullable":true}}}}"##,
        r##"{"properties":{"o":{"$ref":"#/components/schemas/X"}},"components":{"schemas":{"X":{"type":"string"}}}}"##,
    ),
    (
        "a tuple in a group of definitions",
        r##"{"properties":{"o":{"$ref":"#/$defs/group/X"}},"$defs":{"group":{"X":{"type":"array"}}}}"##,
        r##"{"properties":{"o":{"$ref":"#/$defs/group/X"}},"$defs":{"group":{"X":{"type":"array","items":[{"type":"string"}]}}}}"##,
    ),
    (
        "an exclusive bound of draft 4 elsewhere",
        r##"{"properties":{"o":{"$ref":"#/x-types/X"}},"x-types":{"X":{"type":"integer","minimum":0}}}"##,
        r##"{"properties":{"o":{"$ref":"#/x-types/X"}},"x-types":{"X":{"type":"integer","minimum":0,"exclusiveMinimum":true}}}"##,
    ),
    (
        "a repeated pattern, of which the last counts",
        r#"{"patternProperties":{"^a":{"type":"string"},"^a":{"type":"integer"}}}"#,
        r#"{"patternProperties":{"^a":{"type":"string"}}}"#,
    ),
    (
        "a repeated keyword, of which the last counts",
        r#"{"properties":{"m":{"enum":["abc"],"maxLength":1,"maxLength":5}}}"#,
        r#"{"properties":{"m":{"enum":["d"]}}}"#,
    ),
];

#[test]
fn what_was_called_safe_breaks() {
    let wrong: Vec<String> = BROKEN
        .iter()
        .flat_map(|(name, sender, receiver)| breaks(name, sender, receiver))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_chain_of_references_is_followed_to_its_end() {
    let chain = |kind: &str| {
        let mut definitions: Vec<String> = (0..66)
            .map(|at| format!(r##""d{at}":{{"$ref":"#/$defs/d{}"}}"##, at + 1))
            .collect();
        definitions.push(format!(r#""d66":{{"type":"{kind}"}}"#));
        format!(
            r##"{{"properties":{{"a":{{"$ref":"#/$defs/d0"}}}},"$defs":{{{}}}}}"##,
            definitions.join(",")
        )
    };
    let (sender, receiver) = (chain("string"), chain("integer"));
    for (_, found) in both(&sender, &receiver) {
        assert!(matches!(found.verdict, Proof::Witness(_)), "{found:?}");
    }
}

/// What was called safe although validators, or the readings of a schema, differ.
const UNDECIDED: &[(&str, &str, &str)] = &[
    (
        "the edge of a word beyond ASCII",
        r#"{"properties":{"s":{"enum":["éa"]}}}"#,
        r#"{"properties":{"s":{"type":"string","pattern":"\\Ba"}}}"#,
    ),
    (
        "the edge of a word beyond ASCII, which was called breaking",
        r#"{"properties":{"s":{"enum":["éa"]}}}"#,
        r#"{"properties":{"s":{"type":"string","pattern":"\\ba"}}}"#,
    ),
    (
        "a carriage return and a dot",
        r#"{"properties":{"s":{"enum":["a\rb"]}}}"#,
        r#"{"properties":{"s":{"type":"string","pattern":"^.*$"}}}"#,
    ),
    (
        "a member whose name has a line separator",
        r#"{"properties":{"a\u2028b":{"type":"integer"}},"additionalProperties":false}"#,
        r#"{"patternProperties":{"^.+$":{}},"additionalProperties":false}"#,
    ),
    (
        "flags inside a pattern, which ECMAScript does not have",
        r#"{"properties":{"s":{"enum":["A"]}}}"#,
        r#"{"properties":{"s":{"type":"string","pattern":"(?i)^a$"}}}"#,
    ),
    (
        "a bracket first in a class",
        r#"{"properties":{"s":{"enum":["]"]}}}"#,
        r#"{"properties":{"s":{"type":"string","pattern":"^[]a]$"}}}"#,
    ),
    (
        "a name of letters that ECMAScript does not have",
        r#"{"properties":{"s":{"enum":["α"]}}}"#,
        r#"{"properties":{"s":{"type":"string","pattern":"^\\p{Greek}$"}}}"#,
    ),
    (
        "a count with a sign is no count",
        r#"{"properties":{"s":{"type":"string","pattern":"^a{+2}$"}}}"#,
        r#"{"properties":{"s":{"type":"string","pattern":"^aa$"}}}"#,
    ),
    (
        "1.0 is no integer of draft 4",
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"n":{"type":"integer"}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"n":{"type":"integer"}}}"#,
    ),
    (
        "a whole number and an integer of draft 4",
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"n":{"type":"number","multipleOf":1}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"n":{"type":"integer"}}}"#,
    ),
    (
        "what depends on a member, in a draft that has other keywords for it",
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}"#,
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"dependencies":{"a":["b"]}}"#,
    ),
    (
        "a schema that depends on a member, in such a draft and deeper",
        r#"{"$schema":"https://json-schema.org/draft/2019-09/schema","properties":{"o":{"type":"object","properties":{"a":{},"b":{}}}}}"#,
        r#"{"$schema":"https://json-schema.org/draft/2019-09/schema","properties":{"o":{"type":"object","properties":{"a":{},"b":{}},"dependencies":{"a":{"required":["b"]}}}}}"#,
    ),
    (
        "what stands beside a reference in draft 7",
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/A"}},"definitions":{"A":{"type":"string"}}}"##,
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/A","maxLength":3}},"definitions":{"A":{"type":"string"}}}"##,
    ),
    (
        "what is beside the eighth reference of draft 7",
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"t":{"const":2}},"required":["t"]}"#,
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","oneOf":[{"$ref":"#/definitions/a0"},{"properties":{"t":{"const":2}},"required":["t"]}],
            "definitions":{"a0":{"$ref":"#/definitions/a1"},"a1":{"$ref":"#/definitions/a2"},"a2":{"$ref":"#/definitions/a3"},
            "a3":{"$ref":"#/definitions/a4"},"a4":{"$ref":"#/definitions/a5"},"a5":{"$ref":"#/definitions/a6"},"a6":{"$ref":"#/definitions/a7"},
            "a7":{"$ref":"#/definitions/a8","properties":{"t":{"const":1}},"required":["t"]},"a8":{}}}"##,
    ),
    (
        "a part that names another draft",
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"type":"array"}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"array","prefixItems":[{"type":"string"}]}}}"#,
    ),
    (
        "a listed number as 1.0, and an integer of draft 4",
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"n":{"type":"number","enum":[1,2,3]}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"n":{"type":"integer","enum":[1,2,3]}}}"#,
    ),
    (
        "a constant beside a form of draft 4, which has none",
        r#"{"properties":{"n":{"type":"integer","minimum":0,"exclusiveMinimum":true},"k":{"const":"a"}}}"#,
        r#"{"properties":{"n":{"type":"integer","minimum":0,"exclusiveMinimum":true},"k":{"const":"b"}}}"#,
    ),
    (
        "what is beside a reference, and a tuple of draft 7",
        r##"{"properties":{"t":{"items":[{"type":"string"}]},"a":{"$ref":"#/$defs/A","maxLength":10}},"$defs":{"A":{"type":"string"}}}"##,
        r##"{"properties":{"t":{"items":[{"type":"string"}]},"a":{"$ref":"#/$defs/A","maxLength":5}},"$defs":{"A":{"type":"string"}}}"##,
    ),
    (
        "a document of another draft inside",
        r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"a":{"$id":"http://e.test/t","$schema":"http://json-schema.org/draft-07/schema#",
            "allOf":[{"$ref":"#/definitions/A","maxLength":5}],"definitions":{"A":{"type":"string"}}}}}"##,
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"a":{"type":"string","maxLength":5}}}"#,
    ),
    (
        "not a schema, behind a reference",
        r##"{"properties":{"o":{"$ref":"#/components/X"}},"components":{"X":{"type":"integer"}}}"##,
        r##"{"properties":{"o":{"$ref":"#/components/X"}},"components":{"X":{"type":"integer","minimum":"5"}}}"##,
    ),
];

#[test]
fn what_readers_differ_about_is_not_proved() {
    for (name, sender, receiver) in UNDECIDED {
        for (side, found) in both(sender, receiver) {
            let undecided = |it: &Proof| matches!(it, Proof::Undecided(_));
            assert!(undecided(&found.verdict), "{name}, {side:?}: {found:?}");
            let mut proofs = found.changes.iter().filter_map(|it| it.proof.as_ref());
            assert!(proofs.any(undecided), "{name}, {side:?}: {found:?}");
        }
    }
}

const SAFE: &[(&str, &str, &str)] = &[
    (
        "nullable, and a reference to it among OpenAPI's components",
        r#"{"properties":{"n":{"type":["string","null"]}}}"#,
        r##"{"properties":{"n":{"$ref":"#/components/schemas/N"}},"components":{"schemas":{"N":{"type":"string","nullable":true}}}}"##,
    ),
    (
        "an encoding was added",
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"d":{"type":"string"}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"d":{"type":"string","contentEncoding":"base64","contentMediaType":"application/json"}}}"#,
    ),
    (
        "only the dialect changed",
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"d":{"type":"string","minLength":1}}}"#,
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"d":{"type":"string","minLength":1}}}"#,
    ),
    (
        "a closed definition in contains",
        r##"{"properties":{"l":{"type":"array","contains":{"$ref":"#/$defs/K"}}},"$defs":{"K":{"properties":{"k":{}},"additionalProperties":false}}}"##,
        r##"{"properties":{"l":{"type":"array","contains":{"$ref":"#/$defs/K"}}},"$defs":{"K":{"properties":{"k":{}}}}}"##,
    ),
    (
        "a closed definition through allOf",
        r##"{"properties":{"o":{"allOf":[{"$ref":"#/$defs/K"}]}},"$defs":{"K":{"type":"object","properties":{"k":{}},"additionalProperties":false}}}"##,
        r##"{"properties":{"o":{"allOf":[{"$ref":"#/$defs/K"}]}},"$defs":{"K":{"type":"object","properties":{"k":{}}}}}"##,
    ),
    (
        "nullable beside a list of types",
        r#"{"properties":{"a":{"type":["string","null"],"nullable":true}}}"#,
        r#"{"properties":{"a":{"type":["string","null"]}}}"#,
    ),
    (
        "a media type was added",
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"d":{"type":"string"}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"d":{"type":"string","contentMediaType":"application/json"}}}"#,
    ),
    (
        "a wider pattern",
        r#"{"properties":{"a":{"type":"string","pattern":"^[a-z]+$"}}}"#,
        r#"{"properties":{"a":{"type":"string","pattern":"^\\p{L}+$"}}}"#,
    ),
    (
        "an optional member of a level that declares others",
        r#"{"properties":{"a":{}}}"#,
        r#"{"properties":{"a":{},"b":{"type":"string"}}}"#,
    ),
    (
        "a bound of a whole number in another spelling",
        r#"{"properties":{"a":{"type":"integer","minimum":1}}}"#,
        r#"{"properties":{"a":{"type":"integer","exclusiveMinimum":0}}}"#,
    ),
    (
        "contains evaluates every item that was sent",
        r#"{"properties":{"l":{"type":"array","items":{"type":"integer"}}}}"#,
        r#"{"properties":{"l":{"type":"array","contains":{"type":"number"},"minContains":0,"unevaluatedItems":false}}}"#,
    ),
    (
        "unevaluatedItems declares the members of its items",
        r#"{"properties":{"l":{"type":"array","unevaluatedItems":{"type":"object","properties":{"a":{}}}}}}"#,
        r#"{"properties":{"l":{"type":"array","unevaluatedItems":{"type":"object","properties":{"a":{},"b":{"type":"string"}}}}}}"#,
    ),
    (
        "an if whose branches look at the same",
        r#"{"properties":{"l":{"type":"array"}}}"#,
        r#"{"properties":{"l":{"type":"array","if":{"minItems":2},"then":{"items":true},"else":{"items":true},"unevaluatedItems":false}}}"#,
    ),
    (
        "a recursive model with another limit",
        r##"{"properties":{"r":{"$ref":"#/$defs/R"}},"$defs":{"R":{"type":"object","properties":{"v":{"maxLength":3},"next":{"anyOf":[{"$ref":"#/$defs/R"},{"type":"null"}]}}}}}"##,
        r##"{"properties":{"r":{"$ref":"#/$defs/R"}},"$defs":{"R":{"type":"object","properties":{"v":{"maxLength":5},"next":{"anyOf":[{"$ref":"#/$defs/R"},{"type":"null"}]}}}}}"##,
    ),
];

#[test]
fn what_was_called_breaking_is_safe() {
    for (name, sender, receiver) in SAFE {
        for (side, found) in both(sender, receiver) {
            assert_eq!(found.verdict, Proof::Subsumed, "{name}, {side:?}");
            assert!(
                found.changes.iter().all(|it| it.level != Level::Breaking),
                "{name}: {found:?}"
            );
        }
    }
}

fn safe_input(name: &str) -> SchemaComparison {
    let (_, sender, receiver) = SAFE.iter().find(|it| it.0 == name).expect("in the table");
    compare(&json(sender), &json(receiver), Side::Input)
}

#[test]
fn a_sentence_agrees_with_its_proof() {
    for (name, sender, receiver) in BROKEN.iter().chain(SAFE) {
        for (side, found) in both(sender, receiver) {
            for change in &found.changes {
                let doubts = change.message.contains("could not be decided");
                let undecided = matches!(change.proof, Some(Proof::Undecided(_)));
                assert_eq!(doubts, undecided, "{name}, {side:?}: {change:?}");
            }
        }
    }
}

#[test]
fn a_bound_in_another_spelling_is_cosmetic() {
    let found = safe_input("a bound of a whole number in another spelling");
    assert!(
        found.changes.iter().all(|it| it.level == Level::Cosmetic),
        "{found:?}"
    );
}

#[test]
fn one_edit_of_a_recursive_model_is_one_change() {
    let found = safe_input("a recursive model with another limit");
    assert_eq!(found.changes.len(), 1, "{found:?}");
}

/// As pydantic writes an optional reference to the model itself.
const PYDANTIC: &str = r##"{"type":"object","properties":{"node":{"$ref":"#/$defs/Node"},"limit":{"type":"integer"}},
    "$defs":{"Node":{"type":"object","title":"Node","properties":{
        "name":{"type":"string","maxLength":20},
        "parent":{"anyOf":[{"$ref":"#/$defs/Node"},{"type":"null"}],"default":null},
        "children":{"type":"array","items":{"$ref":"#/$defs/Node"}}},"required":["name"]}}}"##;

#[test]
fn an_edit_beside_a_recursive_model_does_not_multiply() {
    let edited = PYDANTIC.replace("\"maxLength\":20", "\"maxLength\":10");
    let both_edited = edited.replace("\"limit\":{", "\"limit\":{\"minimum\":1,");
    for (new, expected) in [(&edited, 1), (&both_edited, 2)] {
        for side in [Side::Input, Side::Output] {
            let (old, new) = (json(PYDANTIC), json(new));
            let found = match side {
                Side::Input => compare(&old, &new, side),
                Side::Output => compare(&new, &old, side),
            };
            assert_eq!(found.changes.len(), expected, "{found:?}");
            for change in &found.changes {
                assert!(
                    matches!(change.proof, Some(Proof::Witness(_))),
                    "{change:?}"
                );
            }
        }
    }
}

#[test]
fn members_that_are_asked_for_and_never_sent_prove_nothing() {
    // C2: two members, and one name for them.
    let of = |kind: &str| {
        format!(r#"{{"type":"object","properties":{{"a":{{"type":"{kind}"}}}},"minProperties":2}}"#)
    };
    for (side, found) in both(&of("string"), &of("integer")) {
        assert!(
            matches!(found.verdict, Proof::Undecided(_)),
            "{side:?}: {found:?}"
        );
        assert!(found.changes.iter().all(|it| it.level == Level::Risky));
    }
}

#[test]
fn what_is_not_a_schema_proves_nothing() {
    let fine = r#"{"properties":{"a":{"type":"string"}}}"#;
    for broken in [
        r#"{"type":[]}"#,
        r#"{"anyOf":[]}"#,
        r#"{"minimum":"5"}"#,
        r#"{"required":"a"}"#,
        r#"{"type":"text"}"#,
        r#"{"multipleOf":-1}"#,
    ] {
        let inner = format!(r#"{{"properties":{{"a":{broken}}}}}"#);
        for (sender, receiver) in [(fine, inner.as_str()), (inner.as_str(), fine)] {
            for (side, found) in both(sender, receiver) {
                let Proof::Undecided(reason) = &found.verdict else {
                    panic!("{broken}, {side:?}: {:?}", found.verdict)
                };
                assert!(reason.contains("not a JSON Schema"), "{broken}: {reason}");
                assert!(
                    found
                        .changes
                        .iter()
                        .any(|it| matches!(it.proof, Some(Proof::Undecided(_)))),
                    "{broken}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn a_server_that_can_send_nothing_is_said_of_its_new_schema() {
    let found = &both(
        r#"{"type":"object","enum":["a"]}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
    )[1]
    .1;
    let Proof::Undecided(reason) = &found.verdict else {
        panic!("{found:?}")
    };
    assert_eq!(
        reason,
        "the new schema accepts no value, so there is nothing to prove"
    );
}

#[test]
fn what_usually_allows_more_says_why_it_breaks() {
    let message = |sender: &str, receiver: &str| {
        let found = compare(&json(sender), &json(receiver), Side::Input);
        let broken = found.changes.iter().find(|it| it.level == Level::Breaking);
        broken
            .unwrap_or_else(|| panic!("{found:?}"))
            .message
            .clone()
    };
    assert_eq!(
        message(
            r#"{"properties":{"f":{"type":"object"}}}"#,
            r#"{"properties":{"f":{"type":"object","properties":{"q":{"type":"string"}}}}}"#,
        ),
        "new optional property `f.q`; before, any value was allowed under this name"
    );
    let seven = BROKEN
        .iter()
        .find(|it| it.0.starts_with("W7"))
        .expect("in the table");
    let said = message(seven.1, seven.2);
    assert!(
        said.ends_with("; values that match two alternatives of oneOf are refused"),
        "{said}"
    );
}

#[test]
fn another_spelling_of_the_same_values_is_cosmetic() {
    for (old, new) in [
        (
            r#"{"type":"integer","maximum":10.5}"#,
            r#"{"type":"integer","maximum":10}"#,
        ),
        (
            r#"{"type":"string","pattern":"^a+$"}"#,
            r#"{"type":"string","pattern":"^aa*$"}"#,
        ),
        (r#"{"type":"string","const":"a"}"#, r#"{"const":"a"}"#),
        (
            r#"{"type":"number","multipleOf":1}"#,
            r#"{"type":"integer"}"#,
        ),
        (
            r#"{"type":"array","maxItems":0}"#,
            r#"{"type":"array","items":false}"#,
        ),
        (
            r#"{"type":"array"}"#,
            r#"{"type":"array","uniqueItems":false}"#,
        ),
        (
            r#"{"type":"object"}"#,
            r#"{"type":"object","propertyNames":{"type":"string"}}"#,
        ),
        (
            r#"{"type":"object","properties":{"x":{}},"additionalProperties":false}"#,
            r#"{"type":"object","properties":{"x":{}},"unevaluatedProperties":false}"#,
        ),
        ("true", "{}"),
    ] {
        let of = |schema: &str| json(&format!(r#"{{"properties":{{"a":{schema}}}}}"#));
        for side in [Side::Input, Side::Output] {
            for (old, new) in [(old, new), (new, old)] {
                let found = compare(&of(old), &of(new), side);
                let fine = |it: &mcp_keel::schema::SchemaChange| {
                    it.level == Level::Cosmetic && it.rule.id().ends_with("equivalent-restructured")
                };
                assert!(found.changes.iter().all(fine), "{old} {new}: {found:?}");
                assert_eq!(found.verdict, Proof::Subsumed);
            }
        }
    }
    // Nearly the same is not the same.
    for (old, new) in [
        (
            r#"{"type":"number","maximum":10.5}"#,
            r#"{"type":"number","maximum":11}"#,
        ),
        (
            r#"{"type":"object","properties":{"x":{}}}"#,
            r#"{"type":"object","properties":{"x":{}},"maxProperties":1}"#,
        ),
    ] {
        let of = |schema: &str| json(&format!(r#"{{"properties":{{"a":{schema}}}}}"#));
        let found = compare(&of(old), &of(new), Side::Input);
        assert!(
            found.changes.iter().any(|it| it.level != Level::Cosmetic),
            "{found:?}"
        );
    }
}

#[test]
fn an_annotation_beside_a_reference_in_a_branch_has_its_place() {
    let of = |more: &str| {
        json(&format!(
            r##"{{"properties":{{"a":{{"anyOf":[{{"$ref":"#/$defs/D"{more}}},{{"type":"null"}}]}}}},"$defs":{{"D":{{"type":"string"}}}}}}"##
        ))
    };
    let found = compare(&of(""), &of(r#","default":"x""#), Side::Input);
    let places: Vec<(&str, &str)> = found
        .changes
        .iter()
        .map(|it| (it.rule.id(), it.pointer.as_str()))
        .collect();
    assert_eq!(
        places,
        [("input-default-added", "/properties/a/anyOf/0/default")]
    );
}

#[test]
fn a_sender_that_accepts_nothing_proves_nothing() {
    let found = &both(
        r#"{"properties":{"a":{"type":"string"}},"required":["a","b"],"additionalProperties":false}"#,
        r#"{"properties":{"a":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}"#,
    )[0]
    .1;
    assert!(matches!(found.verdict, Proof::Undecided(_)), "{found:?}");
    assert!(
        found
            .changes
            .iter()
            .any(|it| it.message.contains("accepts no value"))
    );
    assert!(
        found
            .changes
            .iter()
            .all(|it| it.proof != Some(Proof::Subsumed))
    );
}

#[test]
fn the_answer_must_not_depend_on_a_draft_that_is_not_named() {
    let of = |most: u32| {
        format!(
            r##"{{"properties":{{"a":{{"$ref":"#/definitions/A","maxLength":{most}}}}},"definitions":{{"A":{{"type":"string"}}}}}}"##
        )
    };
    for (side, found) in both(&of(10), &of(5)) {
        assert!(
            matches!(found.verdict, Proof::Undecided(_)),
            "{side:?} {found:?}"
        );
        let rules: Vec<&str> = found.changes.iter().map(|it| it.rule.id()).collect();
        assert!(
            matches!(rules[..], [one] if one.ends_with("ref-restructured")),
            "{side:?} {rules:?}"
        );
    }
}

#[test]
fn the_smallest_integer_does_not_overflow() {
    let of = |schema: &str| format!(r#"{{"properties":{{"a":{schema}}}}}"#);
    for (sender, receiver) in [
        (r#"{"const":-9223372036854775808}"#, r#"{"multipleOf":1}"#),
        (
            r#"{"type":"integer","multipleOf":9223372036854775808}"#,
            r#"{"type":"integer","multipleOf":1}"#,
        ),
    ] {
        for (_, found) in both(&of(sender), &of(receiver)) {
            assert_eq!(found.verdict, Proof::Subsumed);
        }
    }
    // A grid is positive: these are not schemas, and cause no panic either.
    for (sender, receiver) in [
        (r#"{"const":-9223372036854775808}"#, r#"{"multipleOf":-1}"#),
        (
            r#"{"type":"integer","multipleOf":-9223372036854775808}"#,
            r#"{"type":"integer","multipleOf":-1}"#,
        ),
    ] {
        for (_, found) in both(&of(sender), &of(receiver)) {
            assert!(matches!(found.verdict, Proof::Undecided(_)));
        }
    }
}

#[test]
fn witnesses_are_minimal_and_human() {
    for (sender, receiver, witness) in [
        (
            r#"{"properties":{"city":{"type":"string"},"units":{"type":"string"}},"required":["city"]}"#,
            r#"{"properties":{"city":{"type":"string"},"units":{"type":"string"}},"required":["city","units"]}"#,
            r#"{"city":"Oslo"}"#,
        ),
        (
            r#"{"properties":{"m":{"patternProperties":{"^(.*)$":{"type":"string"}}}}}"#,
            r#"{"properties":{"m":{"patternProperties":{"^(.*)$":{"type":"integer"}}}}}"#,
            r#"{"m":{"key":"hello"}}"#,
        ),
    ] {
        let found = compare(&json(sender), &json(receiver), Side::Input);
        let Proof::Witness(it) = &found.verdict else {
            panic!("{found:?}")
        };
        assert_eq!(to_compact(it), witness);
    }
}

/// In 2019-09 validators disagree about whether `unevaluatedProperties` sees what
/// `additionalProperties` evaluates: a call is a witness only if all of them accept it.
#[test]
fn a_witness_is_accepted_by_validators_that_disagree() {
    let schema = |additional: &str, unevaluated: &str, draft: &str| {
        format!(
            r#"{{"$schema":"https://json-schema.org/draft/{draft}/schema","type":"object",
            "additionalProperties":{additional},"unevaluatedProperties":{unevaluated}}}"#
        )
    };
    let (before, after) = (r#"{"type":"number"}"#, r#"{"type":"number","maximum":5}"#);
    let verdict = |unevaluated, draft| {
        let old = schema(before, unevaluated, draft);
        let new = schema(after, unevaluated, draft);
        both(&old, &new).map(|(_, found)| found.verdict)
    };
    // Those that go by names count a member that is named like a keyword.
    for found in verdict("false", "2019-09") {
        assert!(
            matches!(&found, Proof::Witness(it) if it.get("type").is_some()),
            "{found:?}"
        );
    }
    let others = r#"false,"propertyNames":{"not":{"enum":["type","maximum"]}}"#;
    for found in verdict(others, "2019-09") {
        assert!(matches!(found, Proof::Undecided(_)), "{found:?}");
    }
    for (unevaluated, draft) in [(r#"{"type":"number"}"#, "2019-09"), ("false", "2020-12")] {
        for found in verdict(unevaluated, draft) {
            assert!(matches!(found, Proof::Witness(_)), "{draft}: {found:?}");
        }
    }
}

/// What looks like such a schema inside a value is none.
#[test]
fn nothing_is_disputed_about_a_value() {
    let of = |rest: &str| {
        let value = r#"{"additionalProperties":{"type":"number"},"unevaluatedProperties":false}"#;
        format!(
            r#"{{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object",
            "properties":{{"v":{{"enum":[{value}]}},"n":{{"type":"integer"{rest}}}}},"required":["v","n"]}}"#
        )
    };
    for (_, found) in both(&of(""), &of(r#","maximum":5"#)) {
        assert!(matches!(found.verdict, Proof::Witness(_)), "{found:?}");
    }
}

/// 2019-09 does not say that `contains` evaluates what it meets, and validators read it so: an array that
/// one of them accepts is no proof, and neither is that none is accepted.
#[test]
fn what_contains_evaluates_in_2019_09_is_undecided() {
    let of = |first: &str| {
        format!(
            r#"{{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","properties":{{"a":{{
            "type":"array","items":[{first}],"contains":{{"type":"integer","minimum":3}},"unevaluatedItems":false}}}},"required":["a"]}}"#
        )
    };
    let (old, new) = (of(r#"{"type":"string"}"#), of(r#"{"const":"b"}"#));
    for (side, found) in both(&old, &new) {
        assert!(
            matches!(found.verdict, Proof::Undecided(_)),
            "{side:?}: {found:?}"
        );
    }
    // An array in which only the items with schemas of their own are is accepted in every reading.
    for (side, found) in both(&of(r#"{"type":"integer"}"#), &of(r#"{"const":2}"#)) {
        assert!(
            matches!(&found.verdict, Proof::Witness(it) if to_compact(it) == r#"{"a":[3]}"#),
            "{side:?}: {found:?}"
        );
    }
    // 2020-12 says it.
    let modern = |text: &str| {
        text.replace("2019-09", "2020-12")
            .replace(r#""items":["#, r#""prefixItems":["#)
    };
    for (_, found) in both(&modern(&old), &modern(&new)) {
        assert!(matches!(found.verdict, Proof::Witness(_)), "{found:?}");
    }
}

/// A reference that leads nowhere makes unknown what needs it, on either side.
#[test]
fn a_reference_that_decides_leaves_undecided() {
    for (sender, receiver) in [
        // No validator reads a receiver's schema that leads nowhere, even if another member is refused.
        (
            r##"{"properties":{"a":{"$ref":"#/$defs/U"},"n":{"type":"integer","maximum":10}},"required":["a"],"$defs":{"U":{"type":"string"}}}"##,
            r##"{"properties":{"a":{"$ref":"#/$defs/U"},"n":{"type":"integer","maximum":5}},"required":["a"]}"##,
        ),
        // An anchor of another draft decides whether the call is accepted.
        (
            r##"{"properties":{"a":{"$ref":"#unit"}},"required":["a"],"$defs":{"U":{"$anchor":"unit","type":"string"}}}"##,
            r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#unit"}},"required":["a"],"$defs":{"U":{"$anchor":"unit","type":"string"}}}"##,
        ),
        // The receiver's decides whether the call is accepted.
        (
            r##"{"properties":{"a":{"$ref":"#/$defs/U"}},"required":["a"],"$defs":{"U":{"type":"string"}}}"##,
            r##"{"properties":{"a":{"$ref":"#/$defs/U"}},"required":["a"]}"##,
        ),
        // It is unknown whether the sender ever accepted one.
        (
            r##"{"properties":{"a":{"$ref":"#/$defs/U"},"n":{"type":"integer"}},"required":["a"]}"##,
            r##"{"properties":{"a":{"$ref":"#/$defs/U"},"n":{"type":"string"}},"required":["a"]}"##,
        ),
        // A validator that meets it has no answer, whatever the other branch says.
        (
            r##"{"properties":{"a":{"anyOf":[{"$ref":"#/$defs/U"},{"type":"string"}]}},"required":["a"]}"##,
            r##"{"properties":{"a":{"type":"integer"}},"required":["a"]}"##,
        ),
    ] {
        for (side, found) in both(sender, receiver) {
            assert!(
                matches!(found.verdict, Proof::Undecided(_)),
                "{side:?}: {found:?}"
            );
        }
    }
}

/// A call without `z` is refused whatever `x` is: it says nothing about `x`.
#[test]
fn a_call_that_another_change_refuses_is_no_witness() {
    let old =
        r#"{"type":"object","properties":{"x":{"type":"integer","maximum":10}},"required":["x"]}"#;
    let new = r#"{"type":"object","properties":{"x":{"type":"integer","maximum":7},"z":{"type":"string"}},
        "required":["x","z"]}"#;
    let found = compare(&json(old), &json(new), Side::Input);
    let mut breaking = found
        .changes
        .iter()
        .filter(|it| it.level == Level::Breaking);
    let only = breaking.next().expect("`z` is required");
    assert_eq!(only.pointer, "/properties/z");
    assert_eq!(breaking.next(), None, "{found:?}");
    let bound = found
        .changes
        .iter()
        .find(|it| it.pointer.ends_with("/maximum"));
    let bound = bound.expect("the bound is reported");
    assert_eq!((bound.level, &bound.proof), (Level::Risky, &None));
    assert!(
        bound.message.contains("another change already refuses"),
        "{}",
        bound.message
    );
    // By itself it breaks.
    let new = old.replace("10", "7");
    let found = compare(&json(old), &json(&new), Side::Input);
    assert_eq!(found.changes[0].level, Level::Breaking);
}

#[test]
fn old_and_new_of_another_spelling_are_what_its_sentence_is_about() {
    let old = r#"{"type":"object","properties":{"b":{"type":"integer","minimum":1}}}"#;
    let new =
        r#"{"type":"object","properties":{"b":{"allOf":[{"type":"integer"},{"minimum":1}]}}}"#;
    for (old, new, was, is) in [
        (old, new, Some("\"integer\""), None),
        (new, old, None, Some("\"integer\"")),
    ] {
        let found = compare(&json(old), &json(new), Side::Input);
        let change = found
            .changes
            .iter()
            .find(|it| it.pointer == "/properties/b");
        let change = change.expect("the type is reported");
        let shown = |it: &Option<Json>| it.as_ref().map(to_compact);
        assert_eq!(shown(&change.old).as_deref(), was, "{change:?}");
        assert_eq!(shown(&change.new).as_deref(), is, "{change:?}");
        assert!(change.message.contains("integer"), "{}", change.message);
    }
}

#[test]
fn what_is_disputed_may_be_in_another_schema_of_the_same_place() {
    let schema = |inner: &str, unevaluated: &str| {
        format!(
            r#"{{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","properties":{{"a":{{"type":"string"}}}},
            "if":{{"properties":{{"a":{{"const":"json"}}}},"required":["a"]{inner}}},"unevaluatedProperties":{unevaluated}}}"#
        )
    };
    let more = r#","additionalProperties":{"type":"boolean"}"#;
    let verdicts = |unevaluated: &str| {
        both(&schema(more, unevaluated), &schema("", unevaluated)).map(|(_, found)| found.verdict)
    };
    for found in verdicts("false") {
        assert!(
            matches!(&found, Proof::Witness(it) if it.get("type").is_some()),
            "{found:?}"
        );
    }
    // A member that is named like a keyword of both counts as evaluated by both.
    for found in verdicts(r#"{"type":"string"}"#) {
        assert!(matches!(found, Proof::Undecided(_)), "{found:?}");
    }
}
