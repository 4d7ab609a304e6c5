// Search as you type, copy buttons, and files that open when a link leads to them. Every page works without it.
"use strict";

(() => {
  const { root, leaf } = document.body.dataset;

  // ---- search ----

  /** The weight of a match in a name, a tag and the description. */
  const WEIGHTS = { name: 4, tags: 2, description: 1 };
  const MOST = 50;

  const words = (text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

  /** Reports how well a word of a text fits what was typed, from 0 to 1. */
  const fit = (word, typed) => {
    if (word === typed || `${word}s` === typed || word === `${typed}s`) return 1;
    // Scripts without spaces match anywhere, others at the start of a word.
    if (typed > "\u2e80") return word.includes(typed) ? 1 : 0;
    return word.startsWith(typed) ? 0.5 : 0;
  };

  const prepared = (skill) => ({
    skill,
    fields: Object.keys(WEIGHTS).map((field) => [WEIGHTS[field], words([skill[field] ?? ""].flat().join(" "))]),
  });

  const score = ({ fields }, typed) => {
    let sum = 0;
    for (const one of typed) {
      let best = 0;
      for (const [weight, texts] of fields) {
        for (const word of texts) best = Math.max(best, weight * fit(word, one));
      }
      if (best === 0) return 0;
      sum += best;
    }
    return sum;
  };

  const search = (all, text) => {
    const typed = words(text);
    const name = typed.join("-");
    return all
      .map((one) => [one.skill.name === name ? Infinity : score(one, typed), one.skill])
      .filter(([points]) => points > 0)
      .sort((a, b) => b[0] - a[0] || a[1].name.localeCompare(b[1].name))
      .slice(0, MOST)
      .map(([, skill]) => skill);
  };

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  const row = (skill) => {
    const href = `${root}skills/${encodeURIComponent(skill.name)}/${leaf}`;
    const title = element("h3", {}, element("a", { href }, skill.name), " ", element("span", { className: "version" }, skill.version));
    const tags = (skill.tags ?? []).flatMap((tag) => [element("span", { className: "tag" }, tag), " "]);
    return element("li", { className: "row" }, title, element("p", {}, skill.description), element("p", { className: "meta" }, ...tags));
  };

  /** Returns the skills of the list on the page, for a page that no server sent. */
  const listed = () =>
    [...document.querySelectorAll("#all .row")].map((item) => ({
      name: item.querySelector("a").textContent,
      version: item.querySelector(".version").textContent,
      description: item.querySelector("p").textContent,
      tags: [...item.querySelectorAll(".tag")].map((tag) => tag.textContent),
    }));

  const startSearch = (input) => {
    const [found, browse] = ["found", "browse"].map((id) => document.getElementById(id));
    const [status, results] = ["status", "results"].map((id) => document.getElementById(id));
    let all;
    const load = () =>
      (all ??= fetch(`${root}search.json`)
        .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(answer.statusText))))
        .then(({ skills }) => skills)
        .catch(listed)
        .then((skills) => skills.map(prepared)));

    const show = async () => {
      const text = input.value.trim();
      const address = new URL(location.href);
      address.searchParams.delete("page");
      if (text) address.searchParams.set("q", text);
      else address.searchParams.delete("q");
      if (location.protocol !== "file:") history.replaceState(null, "", address);
      found.hidden = words(text).length === 0;
      browse.hidden = !found.hidden;
      if (found.hidden) {
        status.textContent = "";
        return;
      }
      const skills = search(await load(), text);
      if (input.value.trim() !== text) return;
      results.replaceChildren(...skills.map(row));
      status.textContent = skills.length === 0 ? "Nothing matches" : `${skills.length} found`;
    };

    input.form.addEventListener("submit", (event) => {
      event.preventDefault();
      show();
    });
    input.addEventListener("input", show);
    input.addEventListener("focus", load, { once: true });
    const asked = new URLSearchParams(location.search).get("q");
    if (asked && !input.value) {
      input.value = asked;
      show();
    }

    // Arrows go through the results, Escape goes back to the search.
    document.addEventListener("keydown", (event) => {
      const list = found.hidden ? browse : found;
      const links = [...list.querySelectorAll(".row a")];
      const at = links.indexOf(document.activeElement);
      const isHere = at >= 0 || document.activeElement === input;
      if (event.key === "ArrowDown" && isHere && links[at + 1]) links[at + 1].focus();
      else if (event.key === "ArrowUp" && at >= 0) (links[at - 1] ?? input).focus();
      else if (event.key === "Escape" && at >= 0) input.focus();
      else return;
      event.preventDefault();
    });
  };

  const input = document.getElementById("q");
  if (input) startSearch(input);

  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, select, textarea");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    document.querySelector("input[type=search]")?.focus();
    event.preventDefault();
  });

  // ---- copy ----

  const copy = async (code) => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch {
      // Without encryption a page may not write to the clipboard: the text is selected instead.
      getSelection().selectAllChildren(code);
      return false;
    }
  };

  for (const box of document.querySelectorAll("[data-copy]")) {
    const button = element("button", { type: "button" }, "Copy");
    button.addEventListener("click", async () => {
      button.textContent = (await copy(box.querySelector("code"))) ? "Copied" : "Selected";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
    button.setAttribute("aria-live", "polite");
    box.append(button);
  }

  // ---- files ----

  const openTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.matches("details")) target.open = true;
  };
  addEventListener("hashchange", openTarget);
  openTarget();
})();
