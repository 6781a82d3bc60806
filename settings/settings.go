// Package settings reads the settings file of a user: the order of the backends, timeouts, the payer and other values,
// with profiles for different uses. The program that reads the file decides which settings override others. The package
// never looks for settings in the working directory.
package settings

import (
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/specfile"
	"github.com/clichain/clichain/quota"
)

// Values are settings. The zero value of a field means that it is not set.
type Values struct {
	// Order has the names of the backends in the order in which to ask them.
	Order []string `json:"order"`
	// Timeout limits each attempt. AgentTimeout limits it for the work of an agent.
	Timeout      Duration `json:"timeout"`
	AgentTimeout Duration `json:"agent_timeout"`
	// Budget limits a whole call over all backends.
	Budget Duration `json:"budget"`
	// Specs are absolute paths of files of specs. In the file they can be relative to its directory, or start with
	// "~/".
	Specs []string `json:"specs"`
	// Billing restricts the payer of a call.
	Billing Payer `json:"billing"`
	// Confine tells whether the kernel confines the CLIs.
	Confine call.Confinement `json:"confine"`
	// Reserve is the share of each usage window of a plan that calls leave to others.
	Reserve Reserve `json:"reserve"`
	// Accounts names the accounts of backends, for the cooldowns and usage windows that logins share.
	Accounts Accounts `json:"accounts"`
	// Cooldowns is the absolute path of the file for shared cooldowns, or "off".
	Cooldowns string `json:"cooldowns"`
	// UsageLog turns on the log of calls. UsageContent adds prompts and answers to it.
	UsageLog     Switch `json:"usage.log"`
	UsageContent Switch `json:"usage.content"`
	// Conversations turns on the records of conversations, which are removed ConversationsAge after their last turn.
	Conversations    Switch   `json:"conversations"`
	ConversationsAge Duration `json:"conversations.age"`
}

// Switch is [On] or [Off].
type Switch string

// The values of a Switch. The zero value is not set.
const (
	On  Switch = "on"
	Off Switch = "off"
)

// UnmarshalText parses a Switch. Unknown values are errors.
func (s *Switch) UnmarshalText(text []byte) error {
	if !slices.Contains([]Switch{On, Off}, Switch(text)) {
		return fmt.Errorf("is %q: use on or off", text)
	}
	*s = Switch(text)
	return nil
}

// String returns the text of the Switch.
func (s Switch) String() string { return string(s) }

// Duration is a positive duration with a unit, such as 90s.
type Duration time.Duration

// UnmarshalText parses a Duration. Zero and negative values are errors.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed <= 0 {
		return fmt.Errorf("is %q: use a positive duration with a unit, such as 90s or 5m", text)
	}
	*d = Duration(parsed)
	return nil
}

// String returns the duration with its unit, or "" for zero.
func (d Duration) String() string {
	if d == 0 {
		return ""
	}
	return time.Duration(d).String()
}

// Payer is the only party that may pay: a [call.Billing], or [PayerAny].
type Payer string

// PayerAny removes a restriction of a less specific setting.
const PayerAny Payer = "any"

// UnmarshalText parses a Payer. Unknown values are errors.
func (p *Payer) UnmarshalText(text []byte) error {
	known := []Payer{Payer(call.BillingSubscription), Payer(call.BillingAPIKey), PayerAny}
	if !slices.Contains(known, Payer(text)) {
		return fmt.Errorf("is %q: use subscription, api_key or any", text)
	}
	*p = Payer(text)
	return nil
}

// String returns the text of the Payer.
func (p Payer) String() string { return string(p) }

// Billing returns the restriction, or "" if there is none.
func (p Payer) Billing() call.Billing {
	if p == PayerAny {
		return ""
	}
	return call.Billing(p)
}

// Reserve is the text of a [quota.Reserve], such as 0.3; see [quota.ParseReserve].
type Reserve string

// UnmarshalText parses a Reserve. An invalid text is an error.
func (r *Reserve) UnmarshalText(text []byte) error {
	if _, err := quota.ParseReserve(string(text)); err != nil {
		return err
	}
	*r = Reserve(text)
	return nil
}

// String returns the text of the Reserve.
func (r Reserve) String() string { return string(r) }

// Reserve returns the value of the text. The empty text reserves nothing.
func (r Reserve) Reserve() quota.Reserve {
	reserve, _ := quota.ParseReserve(string(r)) // UnmarshalText has reported an error
	return reserve
}

// File is the content of a settings file: the general settings, and the settings of each profile, which override
// them.
type File struct {
	Values
	Profiles map[string]Values `json:"profiles"`

	root *specfile.Node
}

// Line returns the line of the file that sets a field, by its name in the file, or 0. An empty profile means the
// general settings.
func (f *File) Line(profile, field string) int {
	at := f.root
	if profile != "" && at != nil {
		at = at.Get("profiles").Get(profile)
	}
	if at == nil || at.Get(field) == nil {
		return 0
	}
	return at.Find("", field).Line
}
