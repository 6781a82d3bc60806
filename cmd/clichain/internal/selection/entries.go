package selection

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/settings"
)

// Entry is one setting: its name in the file, and its variable, in which it stands as the same text.
type Entry struct {
	Name, Variable string

	Text func(*settings.Values) string // empty: not set
	read func(v *settings.Values, text string) error
	copy func(to, from *settings.Values)
}

// The environment variables of the settings.
const (
	OrderVariable        = "CLICHAIN_ORDER"
	TimeoutVariable      = "CLICHAIN_TIMEOUT"
	agentTimeoutVariable = "CLICHAIN_AGENT_TIMEOUT"
	BudgetVariable       = "CLICHAIN_BUDGET"
	SpecsVariable        = "CLICHAIN_SPECS"
	billingVariable      = "CLICHAIN_BILLING"
	CooldownsVariable    = "CLICHAIN_COOLDOWNS" // a file, or "off"
)

// Entries are in the order in which they are shown.
var Entries = []Entry{
	entryOf("order", OrderVariable, func(v *settings.Values) *[]string { return &v.Order }, joined(","), param.Names),
	entryOf("timeout", TimeoutVariable, func(v *settings.Values) *settings.Duration { return &v.Timeout },
		settings.Duration.String, parseLimit),
	entryOf("agent_timeout", agentTimeoutVariable, func(v *settings.Values) *settings.Duration { return &v.AgentTimeout },
		settings.Duration.String, parseLimit),
	entryOf("budget", BudgetVariable, func(v *settings.Values) *settings.Duration { return &v.Budget },
		settings.Duration.String, parseLimit),
	entryOf("specs", SpecsVariable, func(v *settings.Values) *[]string { return &v.Specs },
		joined(string(os.PathListSeparator)), parseFiles),
	entryOf("billing", billingVariable, func(v *settings.Values) *settings.Payer { return &v.Billing },
		settings.Payer.String, param.Payer),
	entryOf("cooldowns", CooldownsVariable, func(v *settings.Values) *string { return &v.Cooldowns },
		func(path string) string { return path }, func(path string) (string, error) { return path, nil }),
}

// entryOf makes the entry of the field that at finds.
func entryOf[T any](
	name, variable string, at func(*settings.Values) *T, text func(T) string, parse func(string) (T, error),
) Entry {
	return Entry{
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
