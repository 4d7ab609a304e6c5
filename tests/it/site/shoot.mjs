// Takes a picture of a page in Chromium, light and dark: `OUT-light.png` and `OUT-dark.png`.
//
// It is called with one argument, JSON: `chromium` (the program), `modules` (where npm put its packages), `url` and `out`.
import { createRequire } from "node:module";
import { join } from "node:path";

const asked = JSON.parse(process.argv[2]);
const { chromium } = createRequire(join(asked.modules, "/"))("playwright-core");

const browser = await chromium.launch({
  executablePath: asked.chromium,
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
const page = await browser.newPage({ viewport: { width: 1000, height: 620 } });
await page.goto(asked.url);
for (const colorScheme of ["light", "dark"]) {
  await page.emulateMedia({ colorScheme });
  await page.screenshot({ path: `${asked.out}-${colorScheme}.png` });
}
await browser.close();
