package setup

import "github.com/spf13/cobra"

// NewTopics makes the help topics. A topic is a command that only has a help text.
func NewTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "batch-format", Short: "Fields of the input and output lines of a batch", Long: batchFormat},
		{Use: "environment", Short: "Environment variables that clichain reads", Long: environment},
		{Use: "exit-codes", Short: "Exit codes of the commands", Long: exitCodes},
		{Use: "files", Short: "Files that clichain reads and writes", Long: files},
		{Use: "permissions", Short: "Values of --permit", Long: permissions},
		{Use: "settings", Short: "Settings of the settings file", Long: settingsFile},
	}
}

const batchFormat = `"clichain batch" reads requests and writes one JSON object per line for each.

Fields of an input line:

  prompt       the prompt, or "messages" instead
  messages     the messages of a conversation
  id           the id of the line (default derived from the content)
  system       the system prompt
  model        the model, backend/model, or a backend
  schema       the JSON Schema of the answer
  access       none, read, write or full
  dir          the working directory
  options      options such as max_turns
  metadata     values that the response returns
  priority     high, normal or low
  deadline     the time after which the line is not run
  idempotent   true if the line may run twice

Other fields are returned as metadata of the response. Flags apply to lines that
do not set the field. A line may not exceed --access, --dir, --allow-tool and
--permit.

The input may also be a CSV or TSV table with these names in the first line, or
a JSON array. It may also be plain text with one prompt per line, or lines of
the OpenAI batch API. The format is detected from the file name and the first
line unless --format sets it.

Fields of an output line:

  id           the id of the input line
  response     the response, or
  error        the reason why there is none`

const environment = `A flag overrides an environment variable, and an environment variable overrides
the settings file. SKIP_CLI is not a setting and has no flag.

  SKIP_CLI                 backends to disable, or 1 for all
  CLICHAIN_ORDER           backends to try, in this order, separated by commas
  CLICHAIN_TIMEOUT         limit of each backend, such as 90s
  CLICHAIN_AGENT_TIMEOUT   limit of each backend with --agent
  CLICHAIN_BUDGET          limit of all backends together
  CLICHAIN_BILLING         subscription, api_key or any
  CLICHAIN_SPECS           files of specs
  CLICHAIN_COOLDOWNS       file of the cooldowns, or off
  CLICHAIN_USAGE_LOG       on: log the calls for "clichain log", or off
  CLICHAIN_USAGE_CONTENT   on: log prompts and answers too, or off
  CLICHAIN_CONFIG          settings file, or off
  CLICHAIN_PROFILE         profile of the settings file

Some backends of "clichain specs" are tried only if --only or CLICHAIN_ORDER
names them.

The commands of a queue also read these variables:

  NATS_URL                 NATS servers, separated by commas
  NATS_USER                user name
  NATS_PASSWORD            password
  NATS_CREDS               credentials file
  NATS_NKEY                file with the seed of an NKey
  NATS_CA                  file with the CA certificates of the servers
  NATS_CERT                file with the client certificate
  NATS_KEY                 file with the private key of the client certificate

NO_COLOR disables colors. TRACEPARENT and TRACESTATE set the parent of the spans
of "clichain batch" and "clichain queue submit".`

const exitCodes = `All commands use these exit codes:

  0     success: an answer, or a report without a problem
  1     every backend failed, the job failed, or the output was lost
  2     wrong use: flags, arguments, settings or input
  3     no backend to try: none is installed, enabled and logged in
  124   the timeout or the budget was exceeded
  130   interrupted by Ctrl-C
  143   terminated by SIGTERM

Some commands use them in a specific way:

  batch          1 also if some lines failed or could not run, or if the cost
                 reached --max-cost-usd
  doctor         3 if no CLI is ready
  mcp            0 after the end of stdin, SIGINT or SIGTERM
  models         0 if at least one CLI reported its models
  queue result   1 also if the job has no result, 124 if --wait-for is exceeded
  queue submit   2 also if the id exists, 124 if --wait-for is exceeded
  serve          0 after SIGINT or SIGTERM
  specs diff     1 if there is a difference
  work           1 also if no changes passed --check, 4 if nothing changed, 5 if
                 the directory has changed in the same places
  worker         0 after SIGINT or SIGTERM`

const files = `clichain uses these files and directories:

  $XDG_CONFIG_HOME/clichain/config.yaml
      settings (default ~/.config/clichain/config.yaml)
  $XDG_STATE_HOME/clichain/sessions
      records of sessions (default ~/.local/state/clichain/sessions)
  $XDG_STATE_HOME/clichain/calls
      log of calls, if the setting usage.log is on (default
      ~/.local/state/clichain/calls)
  $XDG_STATE_HOME/clichain/conversations
      last conversation of each directory for "clichain ask --continue", with
      its messages if it is recorded (default
      ~/.local/state/clichain/conversations)
  $XDG_STATE_HOME/clichain/results
      results that a worker could not store in its queue (default
      ~/.local/state/clichain/results); a worker stores them as soon as the
      server accepts them, and takes no jobs until then
  clichain/cooldowns.json
      cooldowns and usage windows, in the cache directory of the user
  clichain/work
      copies of directories for agents, in the cache directory of the user; see
      "clichain work"
  clichain/serve-token
      token of "clichain serve", in the configuration directory of the user

"clichain config path" prints the path of the settings file.`

const permissions = `A job or a line of a batch may come from another person. By default, a job of
"clichain worker" may not exceed --max-access, and a line of "clichain batch"
may not exceed --access, --dir and --allow-tool. --permit allows more.

Use --permit once for each permission:

  dir=PATH                 work in a directory and below it; the first one is
                           the default of a worker (default working directory)
  extra=BACKEND=ARGUMENT   pass this raw argument to a CLI
  env=NAME                 set this environment variable, such as APP_*
  tool=NAME                name this tool in allowed_tools
  mode=NAME                name this permission mode
  model=NAME               use this model, such as codex/*; without any model
                           permission, every model is allowed
  mcp                      use MCP servers
  agents                   use subagents
  session                  continue sessions
  bytes=NUMBER             submit jobs of up to this size (default 16 MiB)`

const settingsFile = `The settings file is YAML or JSON. All settings are optional.

  order: [codex, claude]   # backends to try, in order   CLICHAIN_ORDER
  timeout: 60s             # limit of each backend       CLICHAIN_TIMEOUT
  agent_timeout: 20m       # the same with --agent       CLICHAIN_AGENT_TIMEOUT
  budget: 2m               # limit of all together       CLICHAIN_BUDGET
  specs: [mine.yaml]       # files of specs              CLICHAIN_SPECS
  billing: subscription    # or api_key, or any          CLICHAIN_BILLING
  confine: required        # or auto, or off             CLICHAIN_CONFINE
  reserve: 0.3             # share for other users       CLICHAIN_RESERVE
  accounts: claude=team    # plans of backends           CLICHAIN_ACCOUNTS
  cooldowns: off           # or a file                   CLICHAIN_COOLDOWNS
  usage.log: on            # log calls, or off           CLICHAIN_USAGE_LOG
  usage.content: on        # with their texts, or off    CLICHAIN_USAGE_CONTENT
  conversations: on        # record them, or off         CLICHAIN_CONVERSATIONS
  conversations.age: 168h  # then remove them         CLICHAIN_CONVERSATIONS_AGE
  profiles:                # select with --profile ci    CLICHAIN_PROFILE
    ci: {timeout: 20s, billing: api_key}

Change a setting with "clichain config set", or the whole file with "clichain
config edit". Keep secrets in the environment variables that the CLIs read: the
settings file rejects them.`
