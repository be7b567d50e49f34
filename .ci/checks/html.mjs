// Looks at the HTML report in a headless browser. See .ci/pages.
//
// usage: html.mjs MCP_KEEL SCRIPTED_SERVER BROWSER FOLDER [PICTURES]
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [keel, scripted, browserPath, folder, pictures] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let failed = 0;
const check = (fine, what) => {
  if (!fine) failed += 1;
  if (!fine) console.log(`FAIL  ${what}`);
};

// Reports

const run = (args, cwd = folder) => {
  try {
    return execFileSync(keel, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if (error.status === 1 && error.stdout) return error.stdout;
    throw new Error(`${args.join(' ')}: exit ${error.status}: ${error.stderr}`);
  }
};
const tool = (name, more = {}) => ({
  name, description: `Does ${name}.`, inputSchema: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer', maximum: 10 } }, required: ['city'] }, ...more,
});
const diff = (name, before, after) => {
  for (const [side, tools] of [['old', before], ['new', after]]) writeFileSync(join(folder, `${name}-${side}.json`), JSON.stringify({ tools }));
  return run(['diff', '--format', 'html', `${name}-old.json`, `${name}-new.json`]);
};
const narrowed = (name) => tool(name, { inputSchema: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer', maximum: 7 }, units: { enum: ['c', 'f'] } }, required: ['city', 'units'] } });
const HOSTILE = '<script>document.title="pwned"</script><img src=x onerror=alert(1)> </pre></style> "\' onfocus=alert(2) \u202etxt\u202c \u200bhidden `x` &lt;b&gt; '
  + 'a'.repeat(400);
const usual = ['get_forecast', 'get_alerts', 'list_stations', 'set_home'].map((it) => tool(it));
const many = Array.from({ length: 150 }, (_, at) => `tool_${at}`);
const hostileTool = (text) => ({
  name: `x${HOSTILE.slice(0, 60)}`, title: text, description: `${HOSTILE}${text}`,
  inputSchema: { type: 'object', properties: { [HOSTILE.slice(0, 100)]: { type: 'string', description: text, enum: [HOSTILE, text] } } },
});

const fleet = () => {
  const at = join(folder, 'fleet');
  mkdirSync(at);
  const config = (changed) => Array.from({ length: 50 }, (_, n) => {
    const tools = [tool('get'), changed && n % 7 === 0 ? narrowed('put') : tool('put')];
    const command = changed && n === 13 ? ['/nonexistent/server'] : [scripted, JSON.stringify({ tools })];
    return `[server.server-${String(n).padStart(2, '0')}]\ncommand = ${JSON.stringify(command)}\n`;
  }).join('\n');
  writeFileSync(join(at, 'mcp-keel.toml'), config(false));
  run(['pin', '--repeat', '1', '--quiet'], at);
  writeFileSync(join(at, 'mcp-keel.toml'), config(true));
  return run(['check', '--repeat', '1', '--quiet', '--format', 'html'], at);
};

const pages = {
  clean: diff('clean', usual, usual),
  small: run(['demo', '--format', 'html']),
  large: diff('large', many.map((it) => tool(it)), many.map(narrowed)),
  hostile: diff('hostile', [hostileTool('old text')], [hostileTool('new text'), tool('other')]),
  fleet: fleet(),
};
for (const [name, text] of Object.entries(pages)) writeFileSync(join(folder, `${name}.html`), text);
// A script that is not ours must not run, whatever put it there.
writeFileSync(join(folder, 'injected.html'), pages.small.replace('</main>', '<script>document.title = "pwned"</script><img src="x" onerror="document.title = \'pwned\'"></main>'));
const address = (name) => pathToFileURL(join(folder, `${name}.html`)).href;

// Browser

const browser = await chromium.launch({
  executablePath: browserPath,
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
});
const VIEWS = {
  light: { colorScheme: 'light', viewport: { width: 1100, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1100, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};
if (pictures) mkdirSync(pictures, { recursive: true });
let looked = 0;
for (const [view, options] of Object.entries(VIEWS)) {
  const context = await browser.newContext(options);
  for (const name of Object.keys(pages)) {
    const page = await context.newPage();
    const said = [];
    const asked = [];
    page.on('console', (it) => ['error', 'warning'].includes(it.type()) && said.push(it.text()));
    page.on('pageerror', (it) => said.push(String(it)));
    page.on('dialog', (it) => { said.push('dialog'); it.dismiss(); });
    page.on('request', (it) => asked.push(it.url()));
    await page.goto(address(name));
    check(said.length === 0, `${name}, ${view}: ${said.join('; ')}`);
    check(asked.every((it) => it === address(name)), `${name}, ${view}: asked for ${asked.join(' ')}`);
    // Not `innerWidth`: a phone zooms out until a page fits.
    const tooWide = () => page.evaluate((width) => document.documentElement.scrollWidth - width, options.viewport.width);
    const wide = await tooWide();
    check(wide <= 0, `${name}, ${view}: ${wide} px too wide`);
    // Closed parts are read too.
    await page.evaluate(() => document.querySelectorAll('details').forEach((it, at) => { it.open = at < 200; }));
    const opened = await tooWide();
    const widest = () => page.evaluate((width) => [...document.querySelectorAll('body *')]
      .filter((it) => (it.getBoundingClientRect().right > width || it.scrollWidth > width) && !it.closest('.scroll')).slice(-1).map((it) => it.outerHTML.slice(0, 200)).join(), options.viewport.width);
    check(opened <= 0, `${name}, ${view}: ${opened} px too wide with everything open: ${opened > 0 ? await widest() : ''}`);
    await page.evaluate(axe);
    const result = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
    for (const it of result.violations) {
      const grave = ['serious', 'critical'].includes(it.impact);
      check(!grave, `${name}, ${view}: axe: ${it.id} (${it.impact}): ${it.nodes.length} times, such as ${it.nodes[0].html.slice(0, 200)} ${it.nodes[0].failureSummary.slice(0, 200)}`);
      if (!grave) console.log(`      ${name}, ${view}: axe: ${it.id} (${it.impact}), not serious`);
    }
    if (pictures) {
      await page.goto(address(name));
      await page.screenshot({ path: join(pictures, `${name}-${view}.png`) });
      // The whole page with everything open is too large to commit, and worth a look.
      if (process.env.MCP_KEEL_WHOLE) {
        await page.evaluate(() => document.querySelectorAll('details').forEach((it) => { it.open = true; }));
        await page.evaluate(() => document.querySelectorAll('section.component:nth-of-type(n+12)').forEach((it) => it.remove()));
        await page.screenshot({ path: join(process.env.MCP_KEEL_WHOLE, `${name}-${view}.png`), fullPage: true });
      }
    }
    looked += 1;
    await page.close();
  }
  await context.close();
}

// Nothing acts

{
  const page = await browser.newPage();
  for (const name of ['hostile', 'injected']) {
    await page.goto(address(name));
    await page.waitForTimeout(100);
    check(!(await page.title()).includes('pwned'), `${name}: a script ran`);
  }
  await page.goto(address('hostile'));
  const foreign = await page.evaluate(() => document.querySelectorAll('img, iframe, object, embed, form, link, main script').length);
  check(foreign === 0, `hostile: ${foreign} elements that are not ours`);
  await page.close();
}

// Without script

{
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(address('small'));
  check(await page.locator('article.change').count() > 5, 'without script: the changes are there');
  check(await page.locator('article.change').first().isVisible(), 'without script: a change is visible');
  check(!(await page.locator('#controls').isVisible()), 'without script: no control that would do nothing');
  check(await page.locator('button:visible').count() === 0, 'without script: no button that would do nothing');
  await page.locator('summary').first().click();
  await context.close();
}

// By keyboard

{
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {});
  const page = await context.newPage();
  await page.goto(address('small'));
  const visible = () => page.locator('article.change:visible').count();
  const tabTo = async (selector) => {
    for (let at = 0; at < 400; at++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate((it) => document.activeElement?.matches(it), selector)) return true;
    }
    return false;
  };
  const all = await visible();
  check(await tabTo('#search'), 'keyboard: the search is reached');
  await page.keyboard.type('forecast');
  const found = await visible();
  check(found > 0 && found < all, `keyboard: searching shows ${found} of ${all}`);
  check((await page.locator('#shown').textContent()).startsWith(`${found} of ${all}`), 'keyboard: the count is announced');
  await page.keyboard.press('Escape');
  check(await visible() === all, 'keyboard: Escape clears the search');
  check(await tabTo('#tool'), 'keyboard: the tools are reached');
  await page.keyboard.press('ArrowDown');
  check(await visible() < all, 'keyboard: choosing a tool filters');
  await page.keyboard.press('Home');
  check(await visible() === all, 'keyboard: all tools again');
  for (const [name, value] of [['level', 'breaking'], ['exposure', 'high']]) {
    check(await tabTo(`input[name=${name}][value=${value}]`), `keyboard: ${name} ${value} is reached`);
    await page.keyboard.press('Space');
    check(await page.locator(`article.change[data-${name}=${value}]:visible`).count() === 0, `keyboard: ${name} ${value} is filtered`);
  }
  check(await tabTo('#reset'), 'keyboard: the reset button is reached');
  await page.keyboard.press('Enter');
  check(await visible() === all, 'keyboard: everything is shown again');
  check(await tabTo('svg a'), 'keyboard: the picture is reached');
  await page.keyboard.press('Enter');
  check((await page.evaluate(() => location.hash)).startsWith('#s0t'), 'keyboard: a square leads to its tool');
  check(await tabTo('details.call summary'), 'keyboard: a call is reached');
  const closed = await page.evaluate(() => { const it = document.activeElement.parentElement; const open = it.open; return open; });
  await page.keyboard.press('Enter');
  check(await page.evaluate(() => document.activeElement.parentElement.open) !== closed, 'keyboard: a call opens and closes');
  if (closed) await page.keyboard.press('Enter');
  check(await tabTo('button[data-copies]'), 'keyboard: a copy button is reached');
  await page.keyboard.press('Enter');
  await page.waitForTimeout(50);
  check((await page.locator('#said').textContent()).length > 0, 'keyboard: copying is announced');
  const [copied, shown] = await page.evaluate(async () => {
    const text = document.getElementById(document.activeElement.dataset.copies).textContent;
    const clip = await navigator.clipboard.readText().catch(() => '');
    return [clip || String(getSelection()), text];
  });
  check(copied === shown, 'keyboard: what was copied is what is shown');
  JSON.parse(shown);
  await context.close();
}

await browser.close();
console.log(`${looked} views, ${Object.keys(pages).length} reports of up to ${Math.max(...Object.values(pages).map((it) => it.length))} bytes, ${failed} failures`);
process.exit(failed ? 1 : 0);
