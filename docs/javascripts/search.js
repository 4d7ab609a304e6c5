// Prepares what is typed into the search, which joins words by "or" and takes `--locked` for "without locked".
// `site/hooks.py` marks the pages of commands with a word for each of their options.
{
  const FILLERS = new Set(
    ("a an and are as at be by can do does for from get how i if in into is it its me my not of on or should that the " +
      "their there this to use using want what when where which why will with without you your").split(" "),
  );
  const QUERY = 2;
  const prepared = (query) => {
    const marked = query.replace(/(^|\s)--([a-z-]+)/g, (_, before, name) => {
      const mark = `option${name.replaceAll("-", "")}`;
      // The whole word counts most; the one without a number also stands for what begins like it.
      return `${before}${mark}^9 ${mark} ${name}`;
    });
    const words = marked.split(/\s+/).map((word) => word.replace(/^[-+*~^:`]+|[?!`]+$/g, "")).filter(Boolean);
    const telling = words.filter((word) => !FILLERS.has(word.toLowerCase()));
    return (telling.length ? telling : words).join(" ");
  };
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    const asked = message?.type === QUERY ? { ...message, data: prepared(message.data) } : message;
    return post.call(this, asked, ...rest);
  };
}
