// Package settings reads a user's settings file: which backends to ask in which order, for how long, and who may pay,
// with profiles for several uses of one machine. It says what is in the file; what wins over what is decided by the
// program that reads it. It never looks in the working directory.
package settings

import (
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/specfile"
)

// Values are settings. The zero value of a field means that it is not set.
type Values struct {
	// Order has the names of the backends to ask.
	Order []string `json:"order"`
	// Timeout bounds each backend; AgentTimeout does so for the work of an agent.
	Timeout      Duration `json:"timeout"`
	AgentTimeout Duration `json:"agent_timeout"`
	// Budget bounds all backends of a call together.
	Budget Duration `json:"budget"`
	// Specs are files of specs, with absolute paths: in the file they may be relative to its folder, or begin with "~/".
	Specs []string `json:"specs"`
	// Billing says who alone may pay.
	Billing Payer `json:"billing"`
	// Cooldowns is the file for the cooldowns that calls share, as an absolute path, or "off".
	Cooldowns string `json:"cooldowns"`
}

// Duration is a time above zero, written with its unit, such as 90s.
type Duration time.Duration

// UnmarshalText reads a Duration; zero and less are errors.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed <= 0 {
		return fmt.Errorf("is %q: write a time above zero with its unit, such as 90s or 5m", text)
	}
	*d = Duration(parsed)
	return nil
}

// String returns the time with its unit; zero as "".
func (d Duration) String() string {
	if d == 0 {
		return ""
	}
	return time.Duration(d).String()
}

// Payer says who alone may pay: a [call.Billing], or [PayerAny].
type Payer string

// PayerAny sets no limit, where a less specific setting has one.
const PayerAny Payer = "any"

// UnmarshalText reads a Payer; other words are errors.
func (p *Payer) UnmarshalText(text []byte) error {
	known := []Payer{Payer(call.BillingSubscription), Payer(call.BillingAPIKey), PayerAny}
	if !slices.Contains(known, Payer(text)) {
		return fmt.Errorf("is %q: use subscription, api_key or any", text)
	}
	*p = Payer(text)
	return nil
}

// String returns the word.
func (p Payer) String() string { return string(p) }

// Billing is the limit; empty without one.
func (p Payer) Billing() call.Billing {
	if p == PayerAny {
		return ""
	}
	return call.Billing(p)
}

// File is the content of a settings file: what holds always, and by name what holds with a profile, where the profile
// sets it.
type File struct {
	Values
	Profiles map[string]Values `json:"profiles"`

	root *specfile.Node
}

// Line is the line of the file that sets a field, by its name in the file; 0 if nothing does. The profile is empty for
// what holds always.
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
