// Prints what Gemini CLI lists for many homes and directories, in one process: its own functions read settings, trust,
// extensions and skills, and render the listing. A copy of the bundle is made, in which two of its files export two
// functions more; nothing else is changed.
//
// node gemini.mjs BUNDLE COPY < layouts.json, with layouts as {home, cwd, env}; prints one {listing, error} for each.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// With one thread for files, directories are read in one order; with four, the order within one is a race.
if (process.env.UV_THREADPOOL_SIZE !== '1') {
  const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
  const again = spawnSync(process.execPath, process.argv.slice(1), { stdio: 'inherit', env });
  process.exit(again.status ?? 1);
}
const [bundle, copy] = process.argv.slice(2).map((dir) => path.resolve(dir));
const layouts = JSON.parse(fs.readFileSync(0, 'utf8'));
const print = process.stdout.write.bind(process.stdout);

// The names of the files have digests in them: they are found by what they define.
const text = (name) => fs.readFileSync(path.join(bundle, name), 'utf8');
const chunks = fs.readdirSync(bundle).filter((name) => name.endsWith('.js')).sort();
const extensions = chunks.findLast((name) => text(name).includes('ExtensionManager = class'));
const imports = [...text(extensions).matchAll(/from "\.\/(chunk[^"]*)"/g)].map(([, name]) => name);
const core = imports.find((name) => text(name).includes('SkillManager = class'));
const settings = imports.find((name) => text(name).includes('settingsCache = '));
const exported = {
  [core]: '\nexport { renderAgentSkills as __render };\n',
  [settings]: '\nexport function __home(path) { USER_SETTINGS_PATH = path; settingsCache.clear(); }\n',
};
const link = (from, to) => {
  fs.mkdirSync(to, { recursive: true });
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [from, to].map((dir) => path.join(dir, entry.name));
    if (entry.isDirectory()) link(source, target);
    else if (exported[entry.name]) fs.writeFileSync(target, fs.readFileSync(source, 'utf8') + exported[entry.name]);
    else {
      try { fs.linkSync(source, target); } catch { fs.copyFileSync(source, target); }
    }
  }
};
link(bundle, copy);
fs.writeFileSync(path.join(path.dirname(copy), 'package.json'), '{"type":"module"}');

const base = { UV_THREADPOOL_SIZE: '1', PATH: process.env.PATH, GEMINI_CLI_NO_RELAUNCH: '1', NO_COLOR: '1' };
const environment = (variables) => {
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  Object.assign(process.env, variables);
};
environment({ ...base, HOME: os.tmpdir() });
const load = (name) => import(pathToFileURL(path.join(copy, name)).href);
const [own, set, ext] = [await load(core), await load(settings), await load(extensions)];
for (const name of ['log', 'warn', 'error', 'debug', 'info']) console[name] = () => {};
process.stdout.write = () => true;
process.stderr.write = () => true;

const answers = [];
for (const { home, cwd, env } of layouts) {
  try {
    environment({ ...base, HOME: home, ...env });
    process.chdir(cwd);
    own.resetTrustedFoldersForTesting();
    set.__home(own.Storage.getGlobalSettingsPath());
    const merged = set.loadSettings(cwd).merged;
    const isTrusted = set.isWorkspaceTrusted(merged, cwd)?.isTrusted ?? false;
    const manager = new ext.ExtensionManager({
      settings: merged, requestConsent: async () => true, requestSetting: async () => '', workspaceDir: cwd,
      enabledExtensionOverrides: undefined, eventEmitter: own.coreEvents, clientVersion: '0.0.0',
    });
    await manager.loadExtensions();
    const skills = new own.SkillManager();
    if (merged.skills?.enabled ?? true) {
      await skills.discoverSkills(new own.Storage(cwd), manager.getExtensions(), isTrusted);
      skills.setDisabledSkills(merged.skills?.disabled ?? []);
    }
    const listed = skills.getSkills().map(({ name, description, location, isBuiltin }) => ({
      name, description, location: isBuiltin ? location.replace(copy, bundle) : location,
    }));
    // Runs of blank lines are shortened in the whole prompt.
    answers.push({ listing: listed.length ? own.__render(listed).replace(/\n{3,}/g, '\n\n') : '' });
  } catch (error) {
    answers.push({ error: String(error?.message ?? error) });
  }
}
print(JSON.stringify(answers), () => process.exit(0));
