// Looks at the pages of a registry in Chromium, and prints one line of JSON for each check.
//
// It is called with one argument, JSON: `chromium` (the program), `modules` (where npm put its packages), `out` (the
// directory for pictures), `sites` (the name and address of each site), and either `queries` or `hostile`.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const asked = JSON.parse(process.argv[2]);
const { chromium } = createRequire(join(asked.modules, "/"))("playwright-core");
const axe = readFileSync(join(asked.modules, "axe-core/axe.min.js"), "utf8");

const browser = await chromium.launch({
  executablePath: asked.chromium,
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});

const check = (site, name, faults) => console.log(JSON.stringify({ name: `${site}: ${name}`, faults: [faults].flat().filter(Boolean) }));
/** Returns a fault unless `is` holds. */
const unless = (is, fault) => (is ? [] : [fault]);
const same = (what, is, wanted) => unless(JSON.stringify(is) === JSON.stringify(wanted), `${what}: ${JSON.stringify(is)} instead of ${JSON.stringify(wanted)}`);

/** Opens a context of which everything that must not happen is written to `faults`. */
const open = async (site, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const faults = { foreign: [], errors: [], policy: [], dialogs: [] };
  await context.exposeBinding("reportViolation", (_, text) => faults.policy.push(text));
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => window.reportViolation(`${location.href}: ${event.violatedDirective} ${event.blockedURI}`));
  });
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(site.url) && !url.startsWith("about:")) faults.foreign.push(url);
  });
  context.on("dialog", (dialog) => {
    faults.dialogs.push(dialog.message());
    dialog.dismiss();
  });
  context.on("weberror", (error) => faults.errors.push(String(error.error())));
  context.on("console", (message) => {
    const isMissing = message.text().includes("status of 404") && message.location().url.includes("missing");
    if (message.type() === "error" && !isMissing) faults.errors.push(`${message.location().url}: ${message.text()}`);
  });
  const page = await context.newPage();
  page.setDefaultTimeout(8000);
  return { context, page, faults };
};

const quiet = (site, name, faults) => {
  for (const [kind, list] of Object.entries(faults)) check(site.name, `${name} ${kind}`, list);
};

/** Each kind of page. */
const kinds = (site) => {
  const at = (path) => `${site.url}${path}${site.leaf}`;
  return {
    index: at("/"),
    results: `${at("/")}?q=pdf`,
    nothing: `${at("/")}?q=zzzz`,
    skill: at("/skills/pdf/"),
    version: at("/skills/pdf/1.0.0/"),
    yanked: at("/skills/charts/0.1.0/"),
    needs: at("/skills/report-writer/"),
    long: at(`/skills/${asked.long}/`),
    diff: at("/skills/pdf/diff/1.0.0/1.1.0/"),
    ...(site.leaf ? {} : { missing: at("/skills/missing/") }),
  };
};

/** Waits until a page shows what it found. */
const settled = (page) => page.waitForFunction(() => !document.querySelector("#found") || document.querySelector("#found").hidden || document.querySelector("#status").textContent !== "");
const visit = async (page, url) => {
  await page.goto(url);
  await settled(page);
};

const names = (page) => page.locator("#results .row a").allTextContents();
const focused = (page) =>
  page.evaluate(() => {
    const at = document.activeElement;
    const style = getComputedStyle(at);
    return {
      text: (at.id || at.textContent || at.name || "").trim(),
      tag: at.localName,
      isSeen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
    };
  });

const withoutFaults = async (site) => {
  const { context, page, faults } = await open(site);
  const serious = { light: [], dark: [] };
  const wide = [];
  for (const [kind, url] of Object.entries(kinds(site))) {
    await visit(page, url);
    await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
    await page.evaluate(axe);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      serious[colorScheme].push(...violations.map(({ id, nodes }) => `${kind}: ${id} ${nodes.map((node) => node.html).join(" ")}`));
    }
    await page.emulateMedia({ colorScheme: "light" });
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      const [is, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      wide.push(...unless(is <= room, `${kind}: ${is} of ${room} pixels`));
    }
  }
  check(site.name, "axe light", serious.light);
  check(site.name, "axe dark", serious.dark);
  check(site.name, "no scrolling sideways", wide);
  quiet(site, "pages", faults);
  await context.close();
};

const search = async (site) => {
  const { context, page, faults } = await open(site);
  await visit(page, kinds(site).index);
  const input = page.locator("#q");
  await input.fill("pdf");
  await page.waitForFunction(() => document.querySelectorAll("#results .row").length > 1);
  check(site.name, "search as you type", [
    ...same("first", (await names(page))[0], "pdf"),
    ...same("all skills", await page.locator("#browse").isHidden(), true),
    ...same("address", new URL(page.url()).search, "?q=pdf"),
    ...unless((await page.locator("#status").textContent()).endsWith("found"), "no status"),
  ]);
  await input.press("ArrowDown");
  const first = await focused(page);
  await page.keyboard.press("ArrowDown");
  const second = await focused(page);
  await page.keyboard.press("ArrowUp");
  const back = await focused(page);
  await page.keyboard.press("Escape");
  const escaped = await focused(page);
  await page.keyboard.press("Escape");
  check(site.name, "arrow keys and Escape", [
    ...same("first", first.text, "pdf"),
    ...unless(second.text !== "pdf" && second.tag === "a", `second: ${second.text}`),
    ...same("back", back.text, "pdf"),
    ...same("escaped", escaped.text, "q"),
    ...unless(first.isSeen, "the focus is not visible"),
    ...same("cleared", [await input.inputValue(), await page.locator("#browse").isVisible()], ["", true]),
  ]);
  await input.fill("zzzz");
  await page.waitForFunction(() => document.querySelector("#status").textContent === "No skill matches");
  check(site.name, "nothing found", same("results", await names(page), []));
  await input.fill("pdf");
  await page.waitForFunction(() => document.querySelectorAll("#results .row").length > 1);
  await input.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/skills\/pdf\//);
  check(site.name, "Enter opens a result", same("page", await page.locator("h1").textContent(), "pdf 1.1.0"));
  const found = {};
  for (const query of asked.queries) {
    await visit(page, `${kinds(site).index}?q=${encodeURIComponent(query)}`);
    // What the server sent is there at once: typing it shows what the script finds.
    await page.locator("#q").fill("");
    await page.locator("#q").fill(query);
    await page.waitForFunction(() => document.querySelector("#status").textContent !== "" || document.querySelector("#found").hidden);
    found[query] = await names(page);
  }
  console.log(JSON.stringify({ site: site.name, found }));
  quiet(site, "search", faults);
  await context.close();
};

const keyboard = async (site) => {
  const { context, page, faults } = await open(site);
  await visit(page, kinds(site).index);
  const unseen = [];
  const tabTo = async (is) => {
    for (let steps = 0; steps < 80; steps += 1) {
      await page.keyboard.press("Tab");
      const at = await focused(page);
      if (!at.isSeen) unseen.push(`${at.tag} ${at.text.slice(0, 40)}`);
      if (is(at)) return at;
    }
    throw new Error("Tab does not lead there");
  };
  const skip = await tabTo(() => true);
  await page.keyboard.press("/");
  const slash = await focused(page);
  await tabTo(({ tag, text }) => tag === "a" && text === "charts");
  await page.keyboard.press("Enter");
  await page.waitForURL(/skills\/charts\//);
  await tabTo(({ tag, text }) => tag === "a" && text.startsWith("Files"));
  await page.keyboard.press("Enter");
  await tabTo(({ tag, text }) => tag === "summary" && text.startsWith("SKILL.md"));
  await page.keyboard.press("Enter");
  const shown = await page.locator("details.file[open] pre").first().textContent();
  check(site.name, "keyboard only", [
    ...same("first", skip.text, "Skip to the content"),
    ...same("slash", slash.text, "q"),
    ...unless(shown.includes("name: charts"), `the file shows ${shown}`),
    ...unseen.map((one) => `the focus is not visible: ${one}`),
  ]);
  quiet(site, "keyboard", faults);
  await context.close();
};

const skill = async (site) => {
  const { context, page, faults } = await open(site);
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: new URL(site.url).origin });
  await visit(page, kinds(site).skill);
  await page.locator(".install button").click();
  await page.waitForFunction(() => document.querySelector(".install button").textContent === "Copied");
  const line = await page.locator(".install code").textContent();
  check(site.name, "copy of the install line", [
    ...same("clipboard", await page.evaluate(() => navigator.clipboard.readText()), line),
    ...unless(line.startsWith("skillpm install "), line),
  ]);
  check(site.name, "versions", same("versions", await page.locator(".versions tbody th a").allTextContents(), ["1.1.0", "1.0.0"]));
  const label = await page.locator("svg.graph").getAttribute("aria-label");
  const drawn = (await page.locator("svg.graph text").allTextContents()).filter((text) => text !== "pdf");
  const listed = await page.locator("#dependencies .pair a").allTextContents();
  check(site.name, "text beside the graph", [
    ...unless(label.includes("pdf"), `label: ${label}`),
    ...same("lists", listed.filter((text) => drawn.includes(text)).sort(), drawn.sort()),
  ]);
  await page.locator(".markdown a", { hasText: "the reference" }).click();
  check(site.name, "a link to a file opens it", same("open", await page.locator("details.file[open] .path").allTextContents(), ["references/formats.md"]));
  await page.getByRole("link", { name: "Changes in 1.1.0 since 1.0.0" }).click();
  await page.waitForURL(/diff/);
  check(site.name, "differences", [
    ...same("title", await page.locator("h1").textContent(), "Changes from 1.0.0 to 1.1.0"),
    ...same("first section", await page.locator("main h2").first().textContent(), "New capabilities"),
    ...unless((await page.locator(".group").first().textContent()).includes("Bash(python3:*)"), "the new tool is not named"),
    ...unless((await page.locator(".diff .added").count()) > 3, "no added lines"),
  ]);
  await visit(page, kinds(site).skill);
  await page.emulateMedia({ media: "print" });
  const printed = await page.pdf();
  check(site.name, "print", [
    ...same("bar", await page.locator(".bar").isVisible(), false),
    ...same("button", await page.locator(".install button").isVisible(), false),
    ...same("text", await page.locator(".markdown").isVisible(), true),
    ...unless(printed.length > 5000, "an empty PDF"),
  ]);
  quiet(site, "skill", faults);
  await context.close();
};

const withoutScripts = async (site) => {
  const { context, page, faults } = await open(site, { javaScriptEnabled: false });
  await page.goto(kinds(site).index);
  const all = await page.locator("#all .row a").allTextContents();
  const problems = unless(all.includes("charts"), `the list has ${all}`);
  if (!site.leaf) {
    await page.locator("#q").fill("pdf");
    await page.locator("#q").press("Enter");
    await page.waitForURL(/q=pdf/);
    problems.push(...same("first", (await names(page))[0], "pdf"));
    await page.locator("#results .row a").first().click();
    await page.waitForURL(/skills\/pdf\//);
    await page.locator("#versions select").first().waitFor({ state: "detached" }).catch(() => problems.push("a form to compare two versions"));
  } else {
    problems.push(...unless(await page.locator("noscript").isVisible(), "no word about the search"));
    await page.goto(kinds(site).skill);
  }
  await page.locator("summary", { hasText: "SKILL.md" }).click();
  problems.push(...unless(await page.locator("details.file[open] pre").first().isVisible(), "the file does not open"));
  problems.push(...same("buttons", await page.locator(".install button").count(), 0));
  check(site.name, "without scripts", problems);
  quiet(site, "without scripts", faults);
  await context.close();
};

/** What is photographed of the site of files, whose pages differ in few words from those of the server. */
const OF_FILES = ["index", "skill", "diff"];

const pictures = async (site) => {
  const shown = Object.entries(kinds(site)).filter(([kind]) => !site.leaf || OF_FILES.includes(kind));
  const start = site.leaf ? "files-" : "";
  // What the driver adds to a page for a picture breaks its policy.
  for (const colorScheme of ["light", "dark"]) {
    const { context, page } = await open(site, { colorScheme, bypassCSP: true });
    for (const [kind, url] of shown) {
      await visit(page, url);
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.screenshot({ path: join(asked.out, `${start}${kind}-${width}-${colorScheme}.png`), fullPage: true });
      }
    }
    await context.close();
  }
};

/** Looks at everything that shows the skill `evil`, whose every text tries to act. */
const hostile = async (site) => {
  const { context, page, faults } = await open(site);
  const acted = [];
  const links = [];
  let seen = 0;
  const look = async (url) => {
    await page.goto(url).catch((error) => unless(String(error).includes("Download is starting"), acted.push(`${url}: ${error}`)));
    if (!page.url().startsWith(site.url)) acted.push(`${url} leads to ${page.url()}`);
    await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
    // What is delayed, or waits for a pointer or the focus, gets it.
    for (const element of await page.locator(".markdown *, .file summary").all()) {
      await element.dispatchEvent("mouseover");
      await element.dispatchEvent("focus");
      seen += 1;
    }
    await page.waitForTimeout(30);
    const state = await page.evaluate(() => ({
      pwned: window.pwned,
      links: [...document.querySelectorAll("[href], [src], [action], [formaction], [data], [srcdoc]")].map((one) => one.href?.baseVal ?? one.href ?? one.src ?? one.action),
      own: [...document.querySelectorAll("script, style, iframe, object, embed, img, base, meta[http-equiv]")].map((one) => one.outerHTML),
      // The browser lays out a text with elements of its own.
      handlers: [...(document.contentType === "text/html" ? document.querySelectorAll("*") : [])].flatMap((one) => [...one.attributes].map(({ name }) => name).filter((name) => name.startsWith("on") || name === "style")),
    }));
    if (state.pwned !== undefined) acted.push(`${url} set window.pwned`);
    acted.push(...state.handlers.map((name) => `${url} has ${name}`));
    links.push(...state.links.filter((link) => !/^(https?:|mailto:)/.test(link)).map((link) => `${url} links to ${link}`));
    const foreign = state.own.filter((html) => !/^<script src="[./]*static\/search\.[0-9a-f]+\.js"|^<meta http-equiv="Content-Security-Policy"/.test(html));
    acted.push(...foreign.map((html) => `${url} has ${html}`));
  };
  for (const path of asked.hostile) {
    if (!site.leaf || path.startsWith("/skills/") || path === "/") await look(`${site.url}${path}${path.endsWith("/") ? site.leaf : ""}`);
  }
  await page.goto(kinds(site).index);
  for (const text of ["evil", "<script>window.pwned=1</script>", "\"><img src=x onerror=window.pwned=1>"]) {
    await page.locator("#q").fill(text);
    await page.waitForFunction(() => document.querySelector("#status").textContent !== "");
    await page.waitForTimeout(30);
    acted.push(...unless((await page.evaluate(() => window.pwned)) === undefined, `search for ${text} set window.pwned`));
    acted.push(...unless((await page.locator("#results img, #results script").count()) === 0, `search for ${text} made elements`));
  }
  await page.locator("#q").fill("evil");
  await page.waitForFunction(() => document.querySelectorAll("#results .row").length > 0);
  check(site.name, "nothing hostile acts", acted);
  check(site.name, "links are harmless", links);
  check(site.name, "the hostile texts are shown", unless(seen > 20, `only ${seen} elements`));
  // A browser looks for an icon of what is no page.
  faults.errors = faults.errors.filter((text) => !text.includes("/favicon.ico: "));
  quiet(site, "hostile", faults);
  await context.close();
};

const failing = (site, name, work) => work(site).catch((error) => check(site.name, name, String(error.stack)));
const parts = asked.hostile ? { hostile } : { withoutFaults, search, keyboard, skill, withoutScripts };
const photographed = asked.hostile ? [] : asked.sites;
await Promise.all([
  ...asked.sites.map(async (site) => {
    for (const [name, part] of Object.entries(parts)) await failing(site, name, part);
  }),
  ...photographed.map((site) => failing(site, "pictures", pictures)),
]);
await browser.close();
