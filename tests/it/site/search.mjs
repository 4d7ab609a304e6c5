// Asks the search of the documentation site in Chromium, as its search field does, and prints the paths of the first
// pages that each question finds, as a line of JSON.
//
// It is called with one argument, JSON: `chromium` (the program), `modules` (where npm put its packages), `url` (the
// address of the site) and `questions`.
import { createRequire } from "node:module";
import { join } from "node:path";

const asked = JSON.parse(process.argv[2]);
const { chromium } = createRequire(join(asked.modules, "/"))("playwright-core");

const browser = await chromium.launch({
  executablePath: asked.chromium,
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
const page = await browser.newPage();
page.setDefaultTimeout(60_000);
await page.goto(`${asked.url}/index.html`);
// The field asks while somebody types; the program behind it answers each question that it is sent.
const found = await page.evaluate(async (questions) => {
  const [SETUP, READY, QUERY, RESULT] = [0, 1, 2, 3];
  const config = JSON.parse(document.getElementById("__config").textContent);
  const worker = new Worker(config.search);
  const answer = (message, type) =>
    new Promise((done) => {
      worker.onmessage = ({ data }) => data.type === type && done(data.data);
      worker.postMessage(message);
    });
  const index = await (await fetch("search/search_index.json")).json();
  await answer({ type: SETUP, data: { ...index, options: { suggest: true } } }, READY);
  const found = [];
  for (const question of questions) {
    const { items } = await answer({ type: QUERY, data: question }, RESULT);
    found.push(items.slice(0, 5).map((pages) => pages[0].location.split("#")[0]));
  }
  return found;
}, asked.questions);
console.log(JSON.stringify(found));

await browser.close();
