import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const OUT = "../src/agenthost/edges/page/static";

/** Where a server of ours listens, for `npm run dev`. */
const SERVER = process.env["AGENTHOST_URL"] ?? "http://127.0.0.1:8642";

/** Writes every text file a second and third time, compressed: the server only picks. */
function compressed(): Plugin {
  const isText = (name: string) => [".html", ".js", ".css", ".svg"].includes(extname(name));
  return {
    name: "compressed",
    apply: "build",
    writeBundle(options) {
      const folder = options.dir ?? OUT;
      const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
      for (const name of names.filter(isText)) {
        const path = join(folder, name);
        const bytes = readFileSync(path);
        const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  plugins: [compressed()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // a strict Content-Security-Policy, and nothing in the page itself
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { bundlerTimings: false } }, // how long it took is nobody's trouble
  },
  server: {
    proxy: {
      "/aap": SERVER,
      "/access": SERVER,
      "/healthz": SERVER,
      "/openapi.json": SERVER,
      "/readyz": SERVER,
      "/ahp": { target: SERVER, ws: true },
    },
  },
  // Threads that share modules: the files are many and small, and none leaves anything behind.
  test: { include: ["tests/**/*.test.ts"], reporters: ["dot"], pool: "threads", isolate: false },
});
