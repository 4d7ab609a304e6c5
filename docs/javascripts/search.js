// Prepares what is typed into the search. It joins words by "or", and takes `--locked` for "without locked".
{
  const FILLERS = new Set(
    ("a an and are as at be by can do does for from get how i if in into is it its me my not of on or should that the " +
      "their there this to use using want what when where which why will with without you your").split(" "),
  );
  const QUERY = 2;
  const prepared = (query) => {
    const words = query.split(/\s+/).map((word) => word.replace(/^[-+*~^:`]+|[?!`]+$/g, "")).filter(Boolean);
    const telling = words.filter((word) => !FILLERS.has(word.toLowerCase()));
    return (telling.length ? telling : words).join(" ");
  };
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    const asked = message?.type === QUERY ? { ...message, data: prepared(message.data) } : message;
    return post.call(this, asked, ...rest);
  };
}
