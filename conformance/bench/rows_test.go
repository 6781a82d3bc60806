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
	onlyClaude = "not offered: it asks claude only"
	onlyCodex  = "not offered: it asks codex only"
	oneByOne   = "not measured: a session takes one prompt at a time, and without one each starts three programs"
)

var notOfCodex = map[string]string{
	agentSDKName: onlyClaude, aiSDKName: onlyClaude,
	acpxName: "not measured: it asks codex by another adapter",
}

var rows = []row{
	{
		name: "One prompt, claude", cli: home.Claude, script: says(spoken), rounds: 9, short: true,
		what: "From the call to the first text and to the answer, which the model takes half a second to say. The " +
			"libraries of npm are loaded before; " +
			"xargs and acpx are programs, whose start counts.",
		job:      job{Prompts: prompts(1), Stream: true},
		measures: []measure{firstText, answered, sent},
		missing:  map[string]string{codexSDKName: onlyCodex},
	},
	{
		name: "One prompt, codex", cli: home.Codex, script: says(spoken), rounds: 9,
		what: "The same. codex prints no part of an answer before it is whole. Its analytics are off in all homes: " +
			"without a network it goes on for 5 s because of them.",
		job:      job{Prompts: prompts(1), Stream: true},
		measures: []measure{firstText, answered, sent},
		missing:  notOfCodex,
	},
	{
		name: "The smallest request, claude", cli: home.Claude, script: says(loopback.Text(hello)), rounds: 2,
		what: "What is sent when all is left out that the contender has an option for: `--tools \"\" --setting-sources " +
			"user --strict-mcp-config`; " +
			"`tools: []`, `settingSources: []`, `strictMcpConfig`; `--allowed-tools \"\"`. clichain does so unasked.",
		job:      job{Prompts: prompts(1), Lean: true},
		measures: []measure{sent},
		missing:  map[string]string{codexSDKName: onlyCodex},
	},
	{
		name: "The first CLI is at its limit", cli: home.Claude, rounds: 3,
		script: says(loopback.Error(429, "rate_limit_error", "Rate limit reached")),
		what: "The model answers claude with status 429; codex is logged in too, and well. os/exec and xargs are written " +
			"with 25 s for claude, " +
			"the default of clichain, and codex after that. The others have no second CLI to ask, and 40 s.",
		job: job{Prompts: prompts(1), Patience: 25 * time.Second}, limited: true,
		together: []string{execName, xargsName, agentSDKName, codexSDKName, aiSDKName, acpxName},
		measures: []measure{inTime},
	},
	{
		name: "A timeout while a tool runs", cli: home.Claude, rounds: 3,
		script: func(cli string) loopback.Script { return loopback.Always(tools[cli]) },
		what: "The model has the CLI run a shell command with a child, neither of which ends; the caller gives up after 12 " +
			"s. Processes of the call that are " +
			"still there 3 s after the contender has come back; who does not come back within half a minute is ended, and " +
			"counts with all its own.",
		job: job{Prompts: prompts(1), Full: true, Timeout: 12 * time.Second}, tool: true,
		together: []string{clichainName, execName, xargsName, agentSDKName, codexSDKName, aiSDKName, acpxName},
		measures: []measure{left, late},
	},
	{
		name: "200 calls, 16 at once, of a CLI that does nothing", cli: home.Claude, rounds: 9, short: true,
		what:     "What the contender itself costs: a shell script answers in the place of the CLI.",
		job:      job{Prompts: prompts(200), Slots: 16},
		measures: []measure{rate},
		missing:  map[string]string{acpxName: oneByOne},
	},
	{
		name: "The same beside 1000 other processes", cli: home.Claude, rounds: 9, idle: "1000",
		what:     "They sleep.",
		job:      job{Prompts: prompts(200), Slots: 16},
		measures: []measure{rate},
		missing:  map[string]string{acpxName: oneByOne},
	},
	{
		name: "100 MB of output", cli: home.Claude, rounds: 5, flood: true, apart: true,
		what: "A CLI prints results of tools, 64 KiB a line, and then its answer: the most memory that the process which " +
			"asked has had, with all that it " +
			"is (Go 20 MB, Node.js 60 MB and more before the call), and the time. xargs passes all on and keeps nothing.",
		job:      job{Prompts: prompts(1), Memory: true},
		measures: []measure{memory, whole},
	},
	{
		name: "Ten prompts one after the other, claude", cli: home.Claude, script: says(loopback.Text(hello)), rounds: 3,
		what: "Warm where that is offered; from the first start to the end of the last process. A pool's calls know " +
			"nothing of each other; a session sends all " +
			"that was said before with each prompt.",
		job:      job{Prompts: prompts(10), Warm: true},
		measures: []measure{whole, further, sent},
		missing:  map[string]string{codexSDKName: onlyCodex},
	},
	{
		name: "Ten prompts one after the other, codex", cli: home.Codex, script: says(loopback.Text(hello)), rounds: 3,
		what:     "The same.",
		job:      job{Prompts: prompts(10), Warm: true},
		measures: []measure{whole, further, sent},
		missing:  notOfCodex,
	},
	{
		name: "Twelve prompts, two at once, claude", cli: home.Claude, script: says(loopback.Text(hello)), rounds: 3,
		what:     "A batch: a pool of two, two goroutines, `xargs -P 2`, two promises at a time.",
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
func (r row) jobOf(c contender, second *seat) job {
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
