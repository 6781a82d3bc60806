package backend

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/container"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/internal/misconfig"
	"github.com/clichain/clichain/runs"
)

// Settings are the settings of one backend, including defaults. clichain.Config documents the fields.
type Settings struct {
	Name, Binary, Account string
	Model, Effort         string

	Agent                            bool
	Timeout, RetryPatience, MaxQueue time.Duration
	FirstOutputTimeout, IdleTimeout  time.Duration
	Breaker                          cooldown.Breaker
	Output                           clispec.OutputMode
	Transport                        clispec.Transport
	ModelAliases                     map[string]string
	RefuseNested, TrustDir           bool
	FreshSessionOnReject             bool
	Sandbox                          Sandbox
	Billing                          call.Billing
	Confine                          call.Confinement
	ReadPaths, WritePaths            []string
	CachePaths                       []string
	PassEnv, Env, RequestEnv         []string
	InheritEnv                       bool
	MaxOutput                        int64
	MaxParallel                      int
	Slots                            chan struct{}
	Container                        *container.Container
	Registry                         *runs.Registry
	Shim                             bool
	Cgroup                           string
	RawOutput, KeepCommentary        bool
	StripFence, RedactAnswers        bool
	Logger                           *slog.Logger
}

// Sandbox is the policy for sandboxes, a clichain.SandboxPolicy.
type Sandbox string

// The policies. The zero value is SandboxAuto.
const (
	SandboxAuto Sandbox = "auto"
	SandboxOn   Sandbox = "on"
	SandboxOff  Sandbox = "off"
)

// Detected returns the name of the sandbox and the sign that shows it. Both are empty if there is no sandbox.
func (s Sandbox) Detected() (name, sign string) {
	switch s {
	case SandboxOn:
		return "a configured sandbox", "Config.Sandbox"
	case SandboxOff:
		return "", ""
	}
	if name, sign = machine.NixBuild(); sign != "" {
		name += " (" + sign + ")"
	}
	return name, sign
}

// Mistakes lists the invalid fields.
func (s *Settings) Mistakes() (list []*call.Error) {
	add := func(checks ...*call.Error) { list = append(list, misconfig.List(checks...)...) }
	if err := clispec.CheckName(s.Name); err != nil && s.Name != "" {
		add(call.ConfigErrorf("config.name", "%q %s", s.Name, err))
	}
	add(misconfig.Word("config.output", s.Output, clispec.OutputStream, clispec.OutputJSON, clispec.OutputText),
		misconfig.Word("config.transport", s.Transport, clispec.TransportStdin, clispec.TransportArgv),
		misconfig.Word("config.sandbox", s.Sandbox, SandboxAuto, SandboxOn, SandboxOff),
		misconfig.Word("config.confine", s.Confine, call.ConfineAuto, call.ConfineRequired, call.ConfineOff),
		misconfig.Word("config.breaker", s.Breaker, cooldown.BreakerSessions, cooldown.BreakerOn, cooldown.BreakerOff),
		misconfig.Word("config.billing", s.Billing, call.BillingSubscription, call.BillingAPIKey),
		misconfig.Bound("config.first_output_timeout", s.FirstOutputTimeout),
		misconfig.Bound("config.idle_timeout", s.IdleTimeout),
		misconfig.Bound("config.max_queue", s.MaxQueue),
		misconfig.Bound("config.max_output", s.MaxOutput),
		misconfig.Bound("config.max_parallel", s.MaxParallel), s.accountMistake())
	if s.Slots != nil && cap(s.Slots) == 0 {
		add(call.ConfigErrorf("config.slots",
			"a channel without capacity blocks every run; use make(chan struct{}, n) for n concurrent runs"))
	}
	add(s.environMistakes()...)
	for _, alias := range slices.Sorted(maps.Keys(s.ModelAliases)) {
		add(aliasMistake(alias, s.ModelAliases[alias], "default", "unknown"))
	}
	if err := s.Container.Check(); err != nil {
		add(call.ConfigErrorf(err.Option, "%s", err.Message))
	}
	return list
}

// environMistakes lists the invalid names and values of environment variables.
func (s *Settings) environMistakes() (list []*call.Error) {
	add := func(field string, i int, format string, args ...any) {
		list = append(list, call.ConfigErrorf(fmt.Sprintf("config.%s[%d]", field, i), format, args...))
	}
	for i, kv := range s.Env {
		if name, _, ok := strings.Cut(kv, "="); name == "" || !ok || strings.Contains(kv, "\x00") {
			add("env", i, "is not of the form NAME=value") // the value may be a secret
		}
	}
	for i, name := range s.PassEnv {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			add("pass_env", i, "%q is not the name of a variable", name)
		}
	}
	for i, name := range s.RequestEnv {
		if !grammar.IsVariablePattern(name) {
			add("request_env", i, `%q is neither the name of an environment variable nor a prefix followed by "*"`, name)
		}
	}
	return list
}

// aliasMistake returns an error for an alias that no request could use. taken are the names with which the CLI
// chooses the model.
func aliasMistake(alias, model string, taken ...string) *call.Error {
	const field = "config.model_aliases"
	name := strings.TrimSpace(alias)
	switch {
	case name == "" || strings.TrimSpace(model) == "":
		return call.ConfigErrorf(field, "%q: %q has no model: give both names", alias, model)
	case name != alias:
		return call.ConfigErrorf(field,
			"%q has leading or trailing blanks, which are removed from the model of a request", alias)
	case slices.Contains(taken, alias):
		return call.ConfigErrorf(field, "%q lets the CLI choose the model: use another name", alias)
	}
	return nil
}
