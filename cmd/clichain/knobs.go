package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/settings"
)

// knob is one setting: its name in the file, and its variable, in which it stands as the same text.
type knob struct {
	name, variable string

	text func(*settings.Values) string // empty: not set
	read func(v *settings.Values, text string) error
	copy func(to, from *settings.Values)
}

const (
	orderVariable        = "CLICHAIN_ORDER"
	timeoutVariable      = "CLICHAIN_TIMEOUT"
	agentTimeoutVariable = "CLICHAIN_AGENT_TIMEOUT"
	budgetVariable       = "CLICHAIN_BUDGET"
	specsVariable        = "CLICHAIN_SPECS"
	billingVariable      = "CLICHAIN_BILLING"
	cooldownsVariable    = "CLICHAIN_COOLDOWNS" // a file, or "off"
)

// knobs are in the order in which they are shown.
var knobs = []knob{
	knobOf("order", orderVariable, func(v *settings.Values) *[]string { return &v.Order }, joined(","), param.Names),
	knobOf("timeout", timeoutVariable, func(v *settings.Values) *settings.Duration { return &v.Timeout },
		settings.Duration.String, parseLimit),
	knobOf("agent_timeout", agentTimeoutVariable, func(v *settings.Values) *settings.Duration { return &v.AgentTimeout },
		settings.Duration.String, parseLimit),
	knobOf("budget", budgetVariable, func(v *settings.Values) *settings.Duration { return &v.Budget },
		settings.Duration.String, parseLimit),
	knobOf("specs", specsVariable, func(v *settings.Values) *[]string { return &v.Specs },
		joined(string(os.PathListSeparator)), parseFiles),
	knobOf("billing", billingVariable, func(v *settings.Values) *settings.Payer { return &v.Billing },
		settings.Payer.String, param.Payer),
	knobOf("cooldowns", cooldownsVariable, func(v *settings.Values) *string { return &v.Cooldowns },
		func(path string) string { return path }, func(path string) (string, error) { return path, nil }),
}

// knobOf makes the knob of the field that at finds.
func knobOf[T any](
	name, variable string, at func(*settings.Values) *T, text func(T) string, parse func(string) (T, error),
) knob {
	return knob{
		name, variable,
		func(v *settings.Values) string { return text(*at(v)) },
		func(v *settings.Values, text string) error { return param.Into(at(v), parse)(text) },
		func(to, from *settings.Values) { *at(to) = *at(from) },
	}
}

func joined(separator string) func([]string) string {
	return func(list []string) string { return strings.Join(list, separator) }
}

func parseLimit(text string) (settings.Duration, error) {
	d, err := param.Duration(text)
	return settings.Duration(d), err
}

func parseFiles(text string) ([]string, error) { return filepath.SplitList(text), nil }
