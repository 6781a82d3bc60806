package bench_test

import (
	"strings"
	"time"

	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// row is one comparison.
type row struct {
	name, what string
	cli        string // the CLI that contenders call if they support more than one
	job        job
	script     func(cli string) loopback.Script // nil: the CLI is a fake
	flood      bool                             // the fake prints 100 MB
	apart      bool                             // each job runs in a new process
	idle       string                           // number of idle processes beside the calls
	rounds     int                              // without the warm-up round, which rows with together do not have
	short      bool                             // part of the short form
	limited    bool                             // the first CLI is at its limit, and contenders without a fallback may fail
	tool       bool                             // a tool of the CLI never ends
	together   []string                         // contenders that run at the same time, because they only wait
	measures   []measure
	missing    map[string]string // contenders without a measurement, and the reason
}

const hello = "Hello from the loopback."

// spoken is a slow answer, sent word by word.
var spoken = loopback.Slow(25*time.Millisecond, loopback.Text(hello+strings.Repeat(" And more of it.", 4)))

func says(r loopback.Reply) func(string) loopback.Script {
	return func(string) loopback.Script { return loopback.Always(r) }
}

const (
	onlyClaude = "not supported: claude only"
	onlyCodex  = "not supported: codex only"
	oneByOne   = "not measured: a session runs one prompt at a time, and without a session each prompt starts three programs"
)

var notOfCodex = map[string]string{
	agentSDKName: onlyClaude, aiSDKName: onlyClaude,
	acpxName: "not measured: it uses another adapter for codex",
}

var rows = []row{
	{
		name: "One prompt, claude", cli: home.Claude, script: says(spoken), rounds: 9, short: true,
		what: "The times from the call to the first text and to the answer. The model takes half a second for its " +
			"answer. The npm libraries are loaded before the call. xargs and acpx are programs, so their start counts.",
		job:      job{Prompts: prompts(1), Stream: true},
		measures: []measure{firstText, answered, sent},
		missing:  map[string]string{codexSDKName: onlyCodex},
	},
	{
		name: "One prompt, codex", cli: home.Codex, script: says(spoken), rounds: 9,
		what: "The same with codex, which prints an answer only when it is complete. Its analytics are off in all homes, " +
			"because without a network they delay its end by 5 s.",
		job:      job{Prompts: prompts(1), Stream: true},
		measures: []measure{firstText, answered, sent},
		missing:  notOfCodex,
	},
	{
		name: "The smallest request, claude", cli: home.Claude, script: says(loopback.Text(hello)), rounds: 2,
		what: "The size of the request if the contender turns off all that it has an option for: `--tools \"\" " +
			"--setting-sources user --strict-mcp-config` (os/exec, xargs), `tools: []`, `settingSources: []`, " +
			"`strictMcpConfig` (npm), and `--allowed-tools \"\"` (acpx). clichain does so by default.",
		job:      job{Prompts: prompts(1), Lean: true},
		measures: []measure{sent},
		missing:  map[string]string{codexSDKName: onlyCodex},
	},
	{
		name: "The first CLI is at its limit", cli: home.Claude, rounds: 3,
		script: says(loopback.Error(429, "rate_limit_error", "Rate limit reached")),
		what: "The model answers claude with status 429. codex is logged in and works. The commands for os/exec and " +
			"xargs give claude 25 s, the default of clichain, and then run codex. The other contenders cannot call a " +
			"second CLI. They have a timeout of 40 s.",
		job: job{Prompts: prompts(1), Patience: 25 * time.Second}, limited: true,
		together: []string{execName, xargsName, agentSDKName, codexSDKName, aiSDKName, acpxName},
		measures: []measure{inTime},
	},
	{
		name: "A timeout while a tool runs", cli: home.Claude, rounds: 3,
		script: func(cli string) loopback.Script { return loopback.Always(tools[cli]) },
		what: "The model makes the CLI run a shell command with a child, and neither of them ends. The caller has a " +
			"timeout of 12 s. The figure is the number of processes that still run 3 s after the contender returned. A " +
			"contender that takes more than 30 s longer than the timeout is killed, and all its processes count.",
		job: job{Prompts: prompts(1), Full: true, Timeout: 12 * time.Second}, tool: true,
		together: []string{clichainName, execName, xargsName, agentSDKName, codexSDKName, aiSDKName, acpxName},
		measures: []measure{left, late},
	},
	{
		name: "200 calls of a trivial CLI, 16 at once", cli: home.Claude, rounds: 9, short: true,
		what:     "The overhead of the contender: a shell script answers in place of the CLI.",
		job:      job{Prompts: prompts(200), Slots: 16},
		measures: []measure{rate},
		missing:  map[string]string{acpxName: oneByOne},
	},
	{
		name: "200 calls with 1000 other processes", cli: home.Claude, rounds: 9, idle: "1000",
		what:     "The other processes sleep.",
		job:      job{Prompts: prompts(200), Slots: 16},
		measures: []measure{rate},
		missing:  map[string]string{acpxName: oneByOne},
	},
	{
		name: "100 MB of output", cli: home.Claude, rounds: 5, flood: true, apart: true,
		what: "A CLI prints results of tools in lines of 64 KiB, and then its answer. The figures are the time and the " +
			"peak memory of the calling process, including its runtime (Go 20 MB, Node.js 60 MB or more before the " +
			"call). xargs passes the output on and stores none of it.",
		job:      job{Prompts: prompts(1), Memory: true},
		measures: []measure{memory, whole},
	},
	{
		name: "Ten prompts one after the other, claude", cli: home.Claude, script: says(loopback.Text(hello)), rounds: 3,
		what: "The time from the first start to the end of the last process, with warm processes if the contender " +
			"supports them. Calls of a pool are independent. A session sends the whole conversation with each prompt.",
		job:      job{Prompts: prompts(10), Warm: true},
		measures: []measure{whole, further, sent},
		missing:  map[string]string{codexSDKName: onlyCodex},
	},
	{
		name: "Ten prompts one after the other, codex", cli: home.Codex, script: says(loopback.Text(hello)), rounds: 3,
		what:     "The same with codex.",
		job:      job{Prompts: prompts(10), Warm: true},
		measures: []measure{whole, further, sent},
		missing:  notOfCodex,
	},
	{
		name: "Twelve prompts, two at once, claude", cli: home.Claude, script: says(loopback.Text(hello)), rounds: 3,
		what: "A batch with two concurrent prompts: a pool of two processes, two goroutines, `xargs -P 2`, or two " +
			"promises.",
		job:      job{Prompts: prompts(12), Slots: 2, Warm: true},
		measures: []measure{whole, sent},
		missing:  map[string]string{codexSDKName: onlyCodex, acpxName: oneByOne},
	},
}

// cliOf returns the CLI that a contender calls.
func (r row) cliOf(c contender) string {
	if c.name == codexSDKName {
		return home.Codex
	}
	return r.cli
}

// jobOf returns the job of a contender. A contender without a fallback CLI gets a timeout.
func (r row) jobOf(c contender, second *target) job {
	j := r.job
	switch {
	case !r.limited:
	case second != nil:
		j.Fallback = second
	default:
		j.Timeout, j.Patience = 40*time.Second, 0
	}
	return j
}
