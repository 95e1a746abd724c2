// sdk_page.mjs - the TypeScript of the agent SDK's reference page, as it stands there.
//
//     node sdk_page.mjs PAGE DIR
//
// The page is text that was copied from a browser: its blocks of code have no indentation and nothing marks where
// they begin. Written into DIR:
//
//     NAME.ts           each whole program: from its first import (or `new CliqAgent`) to `.run();` or the end of its
//                       `describe`. NAME is its agent's name, or what it describes.
//     fragment-N.ts     each `handlers: { … },` as the handlers of an agent
//     use-N.ts          lines that use a context, as a function of it
//     types.ts          the page's interfaces and type aliases, exported
//     shell.sh          the steps that pipe a message to an agent
//
// The programs call functions that the page leaves to its reader (call_your_llm, …). They are imported from ./model.ts.
// The names of what was written are printed.
import fs from 'node:fs';
import path from 'node:path';

const [page, dir] = process.argv.slice(2);
const lines = fs.readFileSync(page, 'utf8').split('\n');

const READERS = [...fs.readFileSync(path.join(import.meta.dirname, 'sdk_page_model.ts'), 'utf8')
  .matchAll(/^export (?:async )?function (\w+)/gm)].map((m) => m[1]);

// How much deeper in brackets a line ends than it begins.
function depth_of(line) {
  const code = line.replace(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|\/\/.*$/g, '');
  return code.replace(/[^{([]/g, '').length - code.replace(/[^})\]]/g, '').length;
}

// The statement that begins at lines[at]: until its brackets are closed.
function statement(at) {
  const taken = [];
  let depth = 0;
  do {
    taken.push(lines[at + taken.length]);
    depth += depth_of(taken.at(-1));
  } while (depth > 0 && at + taken.length < lines.length);
  return taken;
}

function write(name, text, is_program = true) {
  const used = READERS.filter((reader) => new RegExp(`\\b${reader}\\(`).test(text));
  const more = used.length ? `import { ${used.join(', ')} } from './model.ts';\n` : '';
  fs.writeFileSync(path.join(dir, name), text + more);
  console.log(is_program ? `program ${name}` : name);
}

const own_types = [];
let fragments = 0;
let uses = 0;
for (let at = 0; at < lines.length; at++) {
  const line = lines[at];
  if (/^(?:interface|type) \w+ ?[={]/.test(line)) {
    let taken = statement(at);
    while (line.startsWith('type') && !taken.at(-1).endsWith(';')) taken = [...taken, ...statement(at + taken.length)];
    own_types.push(`export ${taken.join('\n')}`);
    at += taken.length - 1;
  } else if (/^(?:import |new CliqAgent\()/.test(line)) {
    const taken = [];
    let is_whole = false;
    while (!is_whole && /^(?:import |const |new |describe\()/.test(lines[at] ?? '')) {
      is_whole = /^(?:new CliqAgent|describe)\(/.test(lines[at]);
      const next = statement(at);
      taken.push(...next);
      at += next.length;
    }
    at--;
    const text = `${taken.join('\n')}\n`;
    const name = /^name: '([^']+)'/m.exec(text)?.[1];
    const what = /^describe\('([^']+)'/m.exec(text)?.[1];
    if (!is_whole) write(`import-${at + 1}.ts`, text, false);
    else if (what) write(`${what.replace(/\W+/g, '-')}.test.ts`, text);
    else if (name) write(`${name}.ts`, text.startsWith('import') ? text : `import { CliqAgent } from '@cliqhub/cliq-sdk';\n${text}`);
    // else: the signature of the constructor, which is no program
  } else if (line === 'handlers: {') {
    const taken = statement(at);
    const head = `import { CliqAgent, build_phase_context, finalize_standard_phase } from '@cliqhub/cliq-sdk';
import type { AgentMessage, SourceEntry, TargetEntry } from '@cliqhub/cliq-sdk';\n`;
    write(`fragment-${++fragments}.ts`, `${head}new CliqAgent({\nname: 'fragment',\n${taken.join('\n')}\n}).run();\n`, false);
    at += taken.length - 1;
  } else if (/^(?:const \w+ = ctx\.|\/\/ String shorthand)/.test(line)) {
    let end = at;
    while (/^(?:const \w+ = ctx\.|\/\/|ctx\.)/.test(lines[end])) end += statement(end).length;
    const head = `import type { PhaseContext, SourceEntry } from '@cliqhub/cliq-sdk';\nexport function use(ctx: PhaseContext) {\n`;
    const names = lines.slice(at, end).flatMap((l) => /^const (\w+)/.exec(l)?.[1] ?? []);
    write(`use-${++uses}.ts`, `${head}${lines.slice(at, end).join('\n')}\nreturn { ${names.join(', ')} };\n}\n`, false);
    at = end - 1;
  } else if (line.startsWith('# 1. Set up minimal protocol files')) {
    let end = at;
    while (!lines[end].startsWith('cat .cliq/signals/')) end++;
    fs.writeFileSync(path.join(dir, 'shell.sh'), `${lines.slice(at, end + 1).join('\n')}\n`);
    console.log('shell.sh');
    at = end;
  }
}
fs.writeFileSync(path.join(dir, 'types.ts'), `${own_types.join('\n')}\n`);
console.log('types.ts');
