package session

import (
	"cmp"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Record is what this user's own files know of a session. A nil Record: nothing is known.
type Record struct {
	Dir  string      // where it was made, because some CLIs find it nowhere else; may be empty
	Used *call.Usage // what the CLI had counted at the end of its latest call; nil: unknown
}

// Dir is the directory to work in: the request's, else that in which its session was made, if that is known.
func Dir(req call.Request, known *Record) string {
	if known == nil {
		return req.Dir
	}
	return cmp.Or(req.Dir, known.Dir)
}

// Rebase subtracts from the counts of a run that resumed a session what that had used before, for the counts that the
// CLI accumulates over a session.
func Rebase(r clispec.SessionRules, u call.Usage, known *Record) call.Usage {
	var base *call.Usage
	if known != nil {
		base = known.Used
	}
	return rebased(u, r.Cumulative, base)
}

// Used keeps of a run's counts those that the CLI accumulates; nil when it has told none of them.
func Used(r clispec.SessionRules, u call.Usage) *call.Usage {
	var used call.Usage
	for _, name := range r.Cumulative {
		if name == clispec.CostField {
			used.CostUSD = u.CostUSD
		} else {
			*counters[name](&used) = *counters[name](&u)
		}
	}
	if used == (call.Usage{}) {
		return nil
	}
	return &used
}

// counters are the counts of a Usage that a CLI may accumulate over the calls of
// a session.
var counters = map[string]func(*call.Usage) *int64{
	"input_tokens":       func(u *call.Usage) *int64 { return &u.InputTokens },
	"output_tokens":      func(u *call.Usage) *int64 { return &u.OutputTokens },
	"cache_read_tokens":  func(u *call.Usage) *int64 { return &u.CacheReadTokens },
	"cache_write_tokens": func(u *call.Usage) *int64 { return &u.CacheWriteTokens },
	"reasoning_tokens":   func(u *call.Usage) *int64 { return &u.ReasoningTokens },
	"turns":              func(u *call.Usage) *int64 { return &u.Turns },
}

// rebased subtracts from the cumulative counts what earlier calls of the session
// had used. Where that is unknown, the counts are dropped. A count that did not grow
// was begun anew, as some versions of a CLI do: each run uses something.
func rebased(u call.Usage, cumulative []string, base *call.Usage) call.Usage {
	for _, name := range cumulative {
		switch {
		case name == clispec.CostField && (base == nil || base.CostUSD == nil || u.CostUSD == nil):
			u.CostUSD = nil
		case name == clispec.CostField:
			if *u.CostUSD > *base.CostUSD {
				u.CostUSD = new(*u.CostUSD - *base.CostUSD)
			}
		case base == nil:
			*counters[name](&u) = 0
		default:
			if now, before := counters[name](&u), *counters[name](base); *now > before {
				*now -= before
			}
		}
	}
	return u
}
