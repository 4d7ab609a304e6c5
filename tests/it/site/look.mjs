// Looks at pages of the documentation site in Chromium, and prints a line for each fault.
//
// It is called with one argument, JSON: `chromium` (the program), `modules` (where npm put its packages), `out` (the
// directory for pictures), `url` (the address of the site) and `pages`.
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
const page = await browser.newPage();
page.setDefaultTimeout(60_000);
let at = "";
const fault = (text) => console.log(`${at}: ${text}`);
page.on("request", (request) => {
  if (!request.url().startsWith(asked.url) && !request.url().startsWith("data:")) fault(`asks ${request.url()}`);
});
page.on("pageerror", (error) => fault(error.message));
page.on("console", (message) => message.type() === "error" && fault(message.text()));

for (const name of asked.pages) {
  at = name;
  await page.goto(`${asked.url}/${name}`);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [390, 1280]) {
      at = `${name}, ${colorScheme}, ${width}`;
      await page.setViewportSize({ width, height: 900 });
      // The theme answers a change of the width or of the scheme in a later frame.
      const fits = page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth);
      await fits.catch(async () => fault(`${await page.evaluate(() => document.documentElement.scrollWidth)} pixels wide`));
      const scheme = { light: "default", dark: "slate" }[colorScheme];
      const follows = page.waitForFunction((scheme) => document.body.dataset.mdColorScheme === scheme, scheme);
      await follows.catch(async () => fault(`shown in ${await page.evaluate(() => document.body.dataset.mdColorScheme)}`));
      await page.screenshot({ path: join(asked.out, `${name.replaceAll("/", "-")}-${width}-${colorScheme}.png`) });
    }
    // A colour in transition is not the one that a reader sees.
    await page.evaluate(() => Promise.allSettled(
      document.getAnimations().filter((change) => change instanceof CSSTransition).map(({ finished }) => finished)));
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(".md-content", { runOnly: ["wcag2a", "wcag2aa"] }));
    for (const { id, nodes } of violations) fault(`${id}: ${nodes[0].html}`);
  }
}

// Whoever comes sees how to install it and what to type first.
await page.goto(`${asked.url}/index.html`);
for (const [width, height] of [[1280, 800], [390, 844]]) {
  at = `index.html, ${width}`;
  await page.setViewportSize({ width, height });
  const ends = await page.$$eval(".md-content pre", (blocks) => blocks.map((block) => block.getBoundingClientRect().bottom));
  if (!(ends[1] <= height)) fault(`the first commands end at ${ends.slice(0, 2)}`);
}

// Nothing of a page of a command is cut, nor of what is copied first.
for (const name of ["index", "guide/install", "reference/cli/install", "reference/cli/registry", "reference/cli/mcp"]) {
  await page.goto(`${asked.url}/${name}.html`);
  for (const width of [390, 1280]) {
    at = `${name}, ${width}`;
    await page.setViewportSize({ width, height: 900 });
    const cut = await page.$$eval(".md-content pre, .md-content pre *, .command *", (parts) =>
      parts.filter((part) => part.clientWidth > 0 && part.scrollWidth > part.clientWidth + 1).map((part) => part.outerHTML.slice(0, 80)));
    if (cut.length) fault(`cut: ${cut[0]}`);
  }
}

// The first column of a wide table stays in sight.
at = "compare.html";
await page.goto(`${asked.url}/compare.html`);
const moved = await page.locator(".md-typeset__scrollwrap").first().evaluate((wrap) => {
  wrap.scrollLeft = wrap.scrollWidth;
  const [cell, last] = [...wrap.querySelectorAll("tr:nth-child(2) td")].filter((_, at, all) => at % (all.length - 1) === 0);
  const edges = wrap.getBoundingClientRect();
  return [cell.getBoundingClientRect().left - edges.left, last.getBoundingClientRect().right - edges.right];
});
// The wrapper has a margin on each side.
if (moved.some((distance) => Math.abs(distance) > 20)) fault(`the first and the last column are ${moved} pixels off`);

// What is typed is prepared: a question with an option finds the option.
await page.setViewportSize({ width: 1280, height: 800 });
for (const [question, answer] of [["minimum-release-age", "policy.html"], ["--frozen", "cli/install.html"]]) {
  at = `search for ${question}`;
  await page.goto(`${asked.url}/index.html`);
  await page.locator("[data-md-component=search-query]").fill(question);
  const found = page.locator(`.md-search-result__link[href*='reference/${answer}']`).first();
  await found.waitFor({ state: "attached" }).catch(() => fault(`does not find ${answer}`));
}

await browser.close();
