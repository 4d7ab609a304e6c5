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
      // The theme moves its search and its drawer for a moment.
      const fits = page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth);
      await fits.catch(async () => fault(`${await page.evaluate(() => document.documentElement.scrollWidth)} pixels wide`));
      const scheme = await page.evaluate(() => document.body.dataset.mdColorScheme);
      if (scheme !== { light: "default", dark: "slate" }[colorScheme]) fault(`shown in ${scheme}`);
      await page.screenshot({ path: join(asked.out, `${name.replaceAll("/", "-")}-${width}-${colorScheme}.png`) });
    }
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(".md-content", { runOnly: ["wcag2a", "wcag2aa"] }));
    for (const { id, nodes } of violations) fault(`${id}: ${nodes[0].html}`);
  }
}

at = "search";
await page.goto(`${asked.url}/index.html`);
await page.locator("[data-md-component=search-query]").fill("minimum-release-age");
const found = page.locator(".md-search-result__link[href*='reference/policy.html']").first();
await found.waitFor({ state: "attached" }).catch(() => fault("does not find the policy"));

await browser.close();
