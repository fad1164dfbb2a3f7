// docs/command-line.md, from the help that the program itself prints.
require('./schema.cjs');
const { commandLine } = require('../../dist/cli/program.js');

let printed = '';
const nothing = () => undefined;
const program = commandLine(
  { print: (text) => (printed += `${text}\n`), say: nothing },
  { run: nothing, startServer: nothing },
);

function helpOf(command) {
  printed = '';
  command.outputHelp();
  return printed.trimEnd();
}

const described = (command, path) => [
  `## ${path}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`,
  ...command.commands.flatMap((each) => described(each, `${path} ${each.name()}`)),
];

const plugin = () => `# Command line

Made by \`npm run codegen\` from the program's own help; do not edit.

\`bin/paygraph.mjs\` is the program. In a checkout \`npm run <command> -- …\` runs it with the Node.js that the project
brings, and builds first where sources have changed; \`npm start\` is \`paygraph start\`. An image needs \`bin\`, \`dist\`,
\`package.json\` and the production \`node_modules\`; where there is no \`src\` nothing is built.

Long work shows how far it is on standard error, where that is a terminal. Output that is cut short (\`| head\`) ends no
command: the exit code stays true, and a server serves on. Colours are used on terminals only, and not with \`NO_COLOR\`.

\`start\` and \`sandbox\` are servers: they end with 0 after a signal, and with 1 when they cannot start, also where the
settings are why. All other commands keep to the exit codes below.

${described(program, 'paygraph').join('\n')}`;

module.exports = { plugin };
