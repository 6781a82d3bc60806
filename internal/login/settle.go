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

// settledFor limits how long a change in a keychain goes unnoticed, because no environment variable or file
// shows it.
const settledFor = 10 * time.Minute

// maxSettled limits the cache, because each environment of this process may have its own answer.
const maxSettled = 100

// settled is a cached answer of the status command.
type settled struct {
	login Login
	when  time.Time
}

// Open reports whether environment variables and files do not determine the payer, and the CLI's status command
// can. The status command does not run in the working directory, so it cannot answer for evidence there.
func (s *Prober) Open(l Login) bool {
	known := l.Sure() && l.Billing != call.BillingUnknown || l.State == clispec.LoginInstalled || l.local
	return !known && s.status.Whole && len(s.status.Args) > 0
}

// Settle completes an Open login with the answer of the status command. ask runs the command, unless there is a
// cached answer for the same evidence; a nil ask never runs it. An answer that does not determine the payer is
// not cached. Settle is safe for concurrent use; concurrent calls wait until ctx ends.
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

// Sign returns the first sign of a status rule that matches the output of the command. The zero value means
// that none matches.
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
