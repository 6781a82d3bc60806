package selection

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/settings"
)

// Entry is one setting, with its name in the file and its environment variable.
type Entry struct {
	Name, Variable string

	Text func(*settings.Values) string // empty: not set
	read func(v *settings.Values, text string) error
	copy func(to, from *settings.Values)
	list func(*settings.Values) []string // nil: the setting is not a list
}

// Parse checks a value in the form of the environment variable. It returns the elements of a list, or else the value.
func (e Entry) Parse(text string) (values []string, list bool, err error) {
	var v settings.Values
	if strings.TrimSpace(text) == "" {
		return nil, false, errors.New("the value is empty; use \"clichain config unset\" to remove a setting")
	}
	if err := e.read(&v, text); err != nil {
		return nil, false, err
	}
	if e.list != nil {
		return e.list(&v), true, nil
	}
	return []string{text}, false, nil
}

// The environment variables of the settings.
const (
	OrderVariable        = "CLICHAIN_ORDER"
	TimeoutVariable      = "CLICHAIN_TIMEOUT"
	agentTimeoutVariable = "CLICHAIN_AGENT_TIMEOUT"
	BudgetVariable       = "CLICHAIN_BUDGET"
	SpecsVariable        = "CLICHAIN_SPECS"
	billingVariable      = "CLICHAIN_BILLING"
	confineVariable      = "CLICHAIN_CONFINE"
	reserveVariable      = "CLICHAIN_RESERVE"
	accountsVariable     = "CLICHAIN_ACCOUNTS"
	CooldownsVariable    = "CLICHAIN_COOLDOWNS" // a file, or "off"
	usageLogVariable     = "CLICHAIN_USAGE_LOG"
	usageContentVariable = "CLICHAIN_USAGE_CONTENT"

	conversationsVariable    = "CLICHAIN_CONVERSATIONS"
	conversationsAgeVariable = "CLICHAIN_CONVERSATIONS_AGE"
)

// Entries are all settings, in display order.
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
	entryOf("confine", confineVariable, func(v *settings.Values) *call.Confinement { return &v.Confine },
		func(c call.Confinement) string { return string(c) }, param.OneOf(param.Confinements...)),
	entryOf("reserve", reserveVariable, func(v *settings.Values) *settings.Reserve { return &v.Reserve },
		settings.Reserve.String, param.Reserve),
	entryOf("accounts", accountsVariable, func(v *settings.Values) *settings.Accounts { return &v.Accounts },
		settings.Accounts.String, param.Accounts),
	entryOf("cooldowns", CooldownsVariable, func(v *settings.Values) *string { return &v.Cooldowns },
		func(path string) string { return path }, func(path string) (string, error) { return path, nil }),
	entryOf("usage.log", usageLogVariable, func(v *settings.Values) *settings.Switch { return &v.UsageLog },
		settings.Switch.String, param.OneOf(settings.On, settings.Off)),
	entryOf("usage.content", usageContentVariable, func(v *settings.Values) *settings.Switch { return &v.UsageContent },
		settings.Switch.String, param.OneOf(settings.On, settings.Off)),
	entryOf("conversations", conversationsVariable, func(v *settings.Values) *settings.Switch { return &v.Conversations },
		settings.Switch.String, param.OneOf(settings.On, settings.Off)),
	entryOf("conversations.age", conversationsAgeVariable,
		func(v *settings.Values) *settings.Duration { return &v.ConversationsAge }, settings.Duration.String, parseLimit),
}

// entryOf makes the entry of the field that at returns.
func entryOf[T any](
	name, variable string, at func(*settings.Values) *T, text func(T) string, parse func(string) (T, error),
) Entry {
	e := Entry{
		Name: name, Variable: variable,
		Text: func(v *settings.Values) string { return text(*at(v)) },
		read: func(v *settings.Values, text string) error { return param.Into(at(v), parse)(text) },
		copy: func(to, from *settings.Values) { *at(to) = *at(from) },
	}
	if _, list := any(at(&settings.Values{})).(*[]string); list {
		e.list = func(v *settings.Values) []string { return *any(at(v)).(*[]string) }
	}
	return e
}

func joined(separator string) func([]string) string {
	return func(list []string) string { return strings.Join(list, separator) }
}

func parseLimit(text string) (settings.Duration, error) {
	d, err := param.Duration(text)
	return settings.Duration(d), err
}

func parseFiles(text string) ([]string, error) { return filepath.SplitList(text), nil }
