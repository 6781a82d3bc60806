package cooldown

import (
	"fmt"
	"time"

	"github.com/clichain/clichain/internal/resettime"
)

// Rule says how long a backend cools down after a failure. The time that
// the backend itself has told comes before it. The zero value: not at all.
type Rule struct {
	// Base is the first cooldown. Zero: none.
	Base time.Duration
	// Cap: each further failure in a row doubles the cooldown up to this. Zero:
	// always Base.
	Cap time.Duration
	// After is how many failures in a row it takes. Zero: the first is enough.
	After int
	// Scope says which calls the cooldown is for. Zero: all of them.
	Scope Scope
}

// Scope says which calls a cooldown is for.
type Scope string

const (
	// ScopeAll, the zero value, is every call of the backend.
	ScopeAll Scope = ""
	// ScopeRequest: calls in the same folder, with the same access, in the same
	// kind of outer session.
	ScopeRequest Scope = "request"
	// ScopeLogin: calls with the login files as they are.
	ScopeLogin Scope = "login"
)

// Problem is what is wrong with a rule; empty: nothing.
func (r Rule) Problem() string {
	switch {
	case r.Base < 0 || r.Cap < 0 || r.After < 0:
		return "a cooldown cannot be negative"
	case r.Base > resettime.Longest || r.Cap > resettime.Longest:
		return fmt.Sprintf("a cooldown is at most %v", resettime.Longest)
	case r.Cap > 0 && r.Cap < r.Base:
		return fmt.Sprintf("the cooldown of %v is above its cap of %v", r.Base, r.Cap)
	case r.Scope != ScopeAll && r.Scope != ScopeRequest && r.Scope != ScopeLogin:
		return fmt.Sprintf("there is no scope %q", r.Scope)
	}
	return ""
}

// Length is the cooldown after so many failures in a row, before chance has
// lengthened or shortened it; zero for none.
func (r Rule) Length(failures int) time.Duration {
	longest := max(r.Cap, r.Base)
	d := r.Base
	for range failures - max(r.After, 1) {
		if d >= longest {
			break
		}
		d = min(2*d, longest)
	}
	if failures < r.After {
		return 0
	}
	return d
}
