package login

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/tidwall/gjson"
)

// settledFor bounds how long a change in a keychain stays unseen, which no variable and no file shows.
const settledFor = 10 * time.Minute

// maxSettled bounds the cache: each environment of this process may have an answer of its own.
const maxSettled = 100

// settled is what the status command said.
type settled struct {
	login Login
	when  time.Time
}

// Open reports whether variables and files leave open who would pay, and the CLI's status command can tell. It cannot
// tell about the working directory, where it does not run.
func (s *Prober) Open(l Login) bool {
	known := l.Sure() && l.Billing != call.BillingUnknown || l.State == clispec.LoginInstalled || l.local
	return !known && s.status.Whole && len(s.status.Args) > 0
}

// Settle completes a login that is Open by what the status command says. ask runs it, unless it was run before and no
// variable or file that matters has changed since; a nil ask never runs it. An answer that does not tell who would pay
// is asked for again by the next call. It is safe for concurrent use; others wait until ctx ends.
func (s *Prober) Settle(
	ctx context.Context, l Login, ask func(context.Context, clispec.StatusRule) (clispec.StatusSign, error),
) (Login, error) {
	leave, err := s.asking.Acquire(ctx)
	if err != nil {
		return l, err
	}
	defer leave()
	if old, ok := s.settled[l.trace]; ok && time.Since(old.when) < settledFor {
		return old.login, nil
	}
	if ask == nil {
		return l, nil
	}
	sign, err := ask(ctx, s.status)
	if err != nil || sign.Login == "" {
		return l, err
	}
	l.State, l.Billing, l.Evidence = sign.Login, sign.Billing, strings.Join(s.status.Args, " ")
	if l.Billing != call.BillingUnknown {
		if len(s.settled) >= maxSettled {
			clear(s.settled)
		}
		s.settled[l.trace] = settled{l, time.Now()}
	}
	return l, nil
}

// Sign returns the first sign of a status command's rule that holds for what it printed; the zero value means none.
func Sign(r clispec.StatusRule, stdout, stderr string, exit int) clispec.StatusSign {
	text := plaintext.Escapes().ReplaceAllString(stdout+"\n"+stderr, "")
	docs := jsontext.Objects([]byte(stdout))
	for _, sign := range r.Signs {
		holds := exit == sign.Exit && regexp.MustCompile(`(?m)`+sign.Pattern).MatchString(text)
		for path, pattern := range sign.JSON {
			re := plaintext.Whole(pattern)
			holds = holds && slices.ContainsFunc(docs, func(doc gjson.Result) bool {
				return re.MatchString(doc.Get(path).String())
			})
		}
		if holds {
			return sign
		}
	}
	return clispec.StatusSign{}
}
