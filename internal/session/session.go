// Package session has the handles of sessions: how they are written, what a CLI
// had counted before, and that one call at a time resumes a session. It knows no
// CLI by name and opens no file.
package session

import (
	"context"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/semaphore"
)

// Handle is a session as Response.Session names it: "backend:id;base@dir".
// Backend keeps a chain from resuming it elsewhere. Base is what the session had
// used so far, which Rebase subtracts from the CLI's counts. Dir is where it was
// made, because some CLIs find it nowhere else. Base and Dir may be empty.
type Handle struct{ Backend, ID, Base, Dir string }

// String writes the handle; "" without an ID.
func (h Handle) String() string {
	if h.ID == "" {
		return ""
	}
	text := h.Backend + ":" + h.ID
	if h.Base != "" {
		text += ";" + h.Base
	}
	if h.Dir != "" {
		text += "@" + h.Dir
	}
	return text
}

// Parse reads what String wrote; ok is false without a backend or an id.
func Parse(handle string) (h Handle, ok bool) {
	h.Backend, handle, _ = strings.Cut(handle, ":")
	handle, h.Dir, _ = strings.Cut(handle, "@")
	h.ID, h.Base, _ = strings.Cut(handle, ";")
	return h, h.Backend != "" && h.ID != ""
}

// Rebase subtracts from a run's counts what the session of the handle had used
// before, for the counts that the CLI accumulates over a session.
func Rebase(r clispec.SessionRules, u call.Usage, handle string) call.Usage {
	if handle == "" || len(r.Cumulative) == 0 {
		return u
	}
	h, _ := Parse(handle)
	return rebased(u, r.Cumulative, decodeBase(h.Base))
}

// Dir is the directory to work in: the request's, else that of its session.
func Dir(req call.Request) string {
	if h, ok := Parse(req.Session); ok && req.Dir == "" {
		return h.Dir
	}
	return req.Dir
}

// Takes reports whether an id has the form of this CLI's session ids.
func Takes(r clispec.SessionRules, id string) bool {
	return r.ID == "" || plaintext.Whole(r.ID).MatchString(id)
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
// had used. Where that is unknown, the counts are dropped.
func rebased(u call.Usage, cumulative []string, base *call.Usage) call.Usage {
	for _, name := range cumulative {
		switch {
		case name == clispec.CostField && (base == nil || base.CostUSD == nil || u.CostUSD == nil):
			u.CostUSD = nil
		case name == clispec.CostField:
			u.CostUSD = new(math.Max(*u.CostUSD-*base.CostUSD, 0))
		case base == nil:
			*counters[name](&u) = 0
		default:
			*counters[name](&u) = max(*counters[name](&u)-*counters[name](base), 0)
		}
	}
	return u
}

// EncodeBase writes the cumulative counts of a usage as a Handle.Base.
func EncodeBase(u call.Usage, cumulative []string) string {
	var parts []string
	for _, name := range cumulative {
		if name == clispec.CostField {
			if u.CostUSD != nil {
				parts = append(parts, name+"="+strconv.FormatFloat(*u.CostUSD, 'g', 12, 64))
			}
		} else if n := *counters[name](&u); n > 0 {
			parts = append(parts, name+"="+strconv.FormatInt(n, 10))
		}
	}
	return strings.Join(parts, ",")
}

// decodeBase reads what EncodeBase wrote; nil when any part of it is invalid.
func decodeBase(text string) *call.Usage {
	var base call.Usage
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		if name == clispec.CostField {
			usd, err := strconv.ParseFloat(value, 64)
			if err != nil || !(usd >= 0 && usd < math.MaxFloat64) {
				return nil
			}
			base.CostUSD = &usd
			continue
		}
		field, ok := counters[name]
		n, err := strconv.ParseInt(value, 10, 64)
		if !ok || err != nil || n < 0 {
			return nil
		}
		*field(&base) = n
	}
	return &base
}

// Turns lets one call at a time resume a session: of two at once, some CLIs lose
// one, and in one CLI both runs answer each other for minutes. A session belongs
// to the machine, so all backends of this process share the turns.
var Turns = sessionTurns{waiting: map[string]*sessionTurn{}}

type sessionTurns struct {
	mu      sync.Mutex
	waiting map[string]*sessionTurn
}

type sessionTurn struct {
	semaphore.Semaphore
	calls int // that resume the session or wait to
}

// Take waits until no other call resumes the session of the handle; "" needs no
// wait. Only the context bounds the wait. It is safe for concurrent use.
func (t *sessionTurns) Take(ctx context.Context, handle string) (release func(), err error) {
	if handle == "" {
		return func() {}, nil
	}
	h, _ := Parse(handle)
	key := h.Backend + ":" + h.ID
	turn := t.join(key)
	free, err := turn.Acquire(ctx)
	if err != nil {
		t.leave(key, turn)
		return nil, err
	}
	return func() { free(); t.leave(key, turn) }, nil
}

func (t *sessionTurns) join(key string) *sessionTurn {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn, ok := t.waiting[key]
	if !ok {
		turn = &sessionTurn{Semaphore: make(semaphore.Semaphore, 1)}
		t.waiting[key] = turn
	}
	turn.calls++
	return turn
}

func (t *sessionTurns) leave(key string, turn *sessionTurn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn.calls--; turn.calls == 0 {
		delete(t.waiting, key)
	}
}
