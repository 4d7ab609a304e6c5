// For a client that cannot send a token: `node --import authorized.mjs CLIENT ... --url URL` has its requests pass
// through this process, which adds the token in the variable TOKEN.
import http from "node:http";

const at = process.argv.indexOf("--url") + 1;
const target = new URL(process.argv[at]);
const server = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${process.env.TOKEN}` };
  const passed = http.request(target, { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  });
  passed.on("error", () => response.destroy());
  response.on("close", () => passed.destroy());
  request.pipe(passed);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
server.unref();
process.argv[at] = `http://127.0.0.1:${server.address().port}${target.pathname}`;
