// Search as you type, copy buttons, and files that open when a link leads to them. Every page works without it.
"use strict";

(() => {
  const { root, leaf } = document.body.dataset;

  // ---- search ----

  const MOST = 50;
  /** The time between the last key and a request to the server, in milliseconds. */
  const PAUSE = 120;

  // The rule by which the server ranks, in `ranking.rs`: a site of files has no server that could be asked.
  const RANK = { k1: 1.2, b: 0.75, name: 4, tag: 2, description: 1, prefix: 0.5, prefixChars: 3, mostWords: 32 };
  const LETTER = /[\p{Alphabetic}\p{N}]/u;

  /** Words that do not tell one task from another. */
  const STOP_WORDS = new Set(
    "a about after again all also am an and any are as at be because been before being between both but by can could did do does doing don down each for from further get give had has have having he help her here his how i if in into is it its just know let like ll look looking make may me might more most much must my need no nor not now of off on once one only or other our out over own please re s same say see shall she should show so some such t take tell than that the their them then there these they thing this those through to too under until up us use used using ve very want was way we were what when where which while who why will with would you your".split(" "),
  );

  const words = (text) =>
    text
      .toLowerCase()
      .split(/[^\p{Alphabetic}\p{N}]+/u)
      .filter(Boolean);

  const isUnspaced = (char) => char.codePointAt(0) >= 0x2e80;

  /** Returns what is searched of a word: of scripts without spaces, each two characters that stand side by side. */
  const pieces = (word) => {
    const runs = [];
    for (const char of word) {
      const last = runs.at(-1);
      if (last && isUnspaced(last[0]) === isUnspaced(char)) last.push(char);
      else runs.push([char]);
    }
    return runs.flatMap((run) =>
      run.length > 2 && isUnspaced(run[0]) ? run.slice(1).map((char, at) => run[at] + char) : [run.join("")],
    );
  };

  const stem = (word) => {
    const length = (text) => [...text].length;
    let stem = word;
    if (length(stem) > 4 && stem.endsWith("ies")) stem = stem.slice(0, -2);
    else if (length(stem) > 3 && stem.endsWith("s") && !stem.endsWith("ss")) stem = stem.slice(0, -1);
    const ending = ["ing", "ed"].find((one) => stem.endsWith(one));
    if (ending && length(stem) - ending.length >= 3) {
      stem = stem.slice(0, -ending.length);
      const [last, before] = [...stem].reverse();
      return last === before && !"lsz".includes(last) ? stem.slice(0, -last.length) : stem;
    }
    if (length(stem) > 3 && stem.endsWith("e")) return stem.slice(0, -1);
    return length(stem) > 3 && stem.endsWith("y") ? `${stem.slice(0, -1)}i` : stem;
  };

  const term = (word) => {
    const chars = [...word];
    const own = stem(word);
    const anywhere = chars.some(isUnspaced);
    let end = 0;
    while (end < word.length && word[end] === own[end]) end += 1;
    return {
      word,
      stem: own,
      // The letters with which all words begin that it matches.
      start: anywhere || end === 0 ? word : word.slice(0, end),
      // Scripts without spaces match anywhere, others at the start of a word.
      anywhere,
      isPrefix: chars.length >= RANK.prefixChars,
    };
  };

  /** Returns what is searched, each stem once. */
  const terms = (typed) => {
    const telling = typed.filter((word) => !STOP_WORDS.has(word));
    const searched = (telling.length > 0 ? telling : typed).flatMap(pieces).slice(0, RANK.mostWords).map(term);
    return searched.filter((one, at) => searched.findIndex((other) => other.stem === one.stem) === at);
  };

  /** Returns how often a text in lower case has a word. A longer word counts less. */
  const occurrences = (text, { word, stem: own, start, anywhere, isPrefix }) => {
    let sum = 0;
    for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + start.length)) {
      if (anywhere) {
        sum += 1;
        continue;
      }
      if (LETTER.test([...text.slice(Math.max(0, at - 2), at)].pop() ?? "")) continue;
      const [found] = /^[\p{Alphabetic}\p{N}]*/u.exec(text.slice(at));
      if (found === word || stem(found) === own) sum += 1;
      else if (isPrefix && found.startsWith(word)) sum += RANK.prefix;
    }
    return sum;
  };

  const bytes = (text) => new TextEncoder().encode(text).length;

  /** Returns the skills that match, best first: BM25 over name, tags and description. */
  const search = (all, typed) => {
    const name = typed.slice(0, RANK.mostWords).join("-");
    const searched = terms(typed);
    const average = Math.max(1, all.reduce((sum, skill) => sum + skill.length, 0) / Math.max(1, all.length));
    const weight = (one, { fields }) =>
      fields.reduce((sum, [factor, text]) => sum + factor * occurrences(text, one), 0);
    const found = all
      .map((skill) => ({ skill, weights: searched.map((one) => weight(one, skill)) }))
      .filter(({ weights }) => weights.some((points) => points > 0));
    const rarity = searched.map((_, at) => {
      const count = found.filter(({ weights }) => weights[at] > 0).length;
      return Math.log(1 + (all.length - count + 0.5) / (count + 0.5));
    });
    for (const one of found) {
      const discount = RANK.k1 * (1 - RANK.b + (RANK.b * one.skill.length) / average);
      one.score = one.weights.reduce(
        (sum, points, at) => sum + (rarity[at] * points * (RANK.k1 + 1)) / (points + discount),
        0,
      );
    }
    const isOther = ({ skill }) => (skill.name === name ? 0 : 1);
    const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    return found
      .sort((a, b) => isOther(a) - isOther(b) || b.score - a.score || order(a.skill.name, b.skill.name))
      .slice(0, MOST)
      .map(({ skill }) => skill.item.cloneNode(true));
  };

  /** Returns the skills of the list on the page. A page of a site of files lists all of them. */
  const listed = () =>
    [...document.querySelectorAll("#all .row")].map((item) => {
      const text = (selector) => item.querySelector(selector).textContent;
      const [name, description] = [text("a"), text("p")];
      const tags = [...item.querySelectorAll(".tag")].map((tag) => tag.textContent);
      return {
        item,
        name,
        length: bytes(name) + bytes(description) + tags.reduce((sum, tag) => sum + bytes(tag), 0),
        fields: [
          [RANK.name, name],
          [RANK.description, description],
          ...tags.map((tag) => [RANK.tag, tag]),
        ].map(([factor, field]) => [factor, field.toLowerCase()]),
      };
    });

  /** Asks the server for the same page with what it found, of which this page takes the list. */
  const asked = async (text) => {
    const answer = await fetch(`${root}?${new URLSearchParams({ q: text })}`);
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return [...page.querySelectorAll("#results > .row")];
  };

  const startSearch = (input) => {
    const [found, browse] = ["found", "browse"].map((id) => document.getElementById(id));
    const [status, results] = ["status", "results"].map((id) => document.getElementById(id));
    let all;
    let timer;

    const matches = async (text) => (leaf ? search((all ??= listed()), words(text)) : asked(text));

    const showResults = async (text) => {
      let rows;
      try {
        rows = await matches(text);
      } catch {
        if (input.value.trim() === text) status.textContent = "The server did not answer. Try again.";
        return;
      }
      // Something else may have been typed while the server looked.
      if (input.value.trim() !== text) return;
      results.replaceChildren(...rows);
      status.textContent =
        rows.length === 0 ? "No skill matches" : `${rows.length} ${rows.length === 1 ? "skill" : "skills"} found`;
    };

    const show = (pause) => {
      const text = input.value.trim();
      const address = new URL(location.href);
      address.searchParams.delete("page");
      if (text) address.searchParams.set("q", text);
      else address.searchParams.delete("q");
      if (location.protocol !== "file:") history.replaceState(null, "", address);
      clearTimeout(timer);
      found.hidden = words(text).length === 0;
      browse.hidden = !found.hidden;
      if (found.hidden) {
        status.textContent = "";
        results.replaceChildren();
        return;
      }
      timer = setTimeout(() => showResults(text), pause);
    };

    input.form.addEventListener("submit", (event) => {
      event.preventDefault();
      show(0);
    });
    input.addEventListener("input", () => show(leaf ? 0 : PAUSE));
    const query = new URLSearchParams(location.search).get("q");
    if (query && !input.value) {
      input.value = query;
      show(0);
    }

    // Arrows go through the results, Escape goes back to the search and then clears it.
    document.addEventListener("keydown", (event) => {
      const list = found.hidden ? browse : found;
      const links = [...list.querySelectorAll(".row a")];
      const at = links.indexOf(document.activeElement);
      const isTyping = document.activeElement === input;
      const isHere = at >= 0 || isTyping;
      if (event.key === "ArrowDown" && isHere && links[at + 1]) links[at + 1].focus();
      else if (event.key === "ArrowUp" && at >= 0) (links[at - 1] ?? input).focus();
      else if (event.key === "Escape" && at >= 0) input.focus();
      else if (event.key === "Escape" && isTyping && input.value) {
        input.value = "";
        show(0);
      } else return;
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

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

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
