package held

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/wire"
	"github.com/tidwall/gjson"
)

// asked answers a question of the CLI in the background. known is false if the spec has no rule for the
// question.
func (c *CLI) asked(r wire.Request) (known bool) {
	i := slices.IndexFunc(c.plan.Rules.Asks, func(a clispec.AskRule) bool { return a.Method == r.Method })
	if i < 0 {
		return false
	}
	rule := c.plan.Rules.Asks[i]
	free, ok := c.asking.Try()
	if !ok {
		return false // the CLI has too many open questions
	}
	t := c.current()
	c.asks.Go(func() {
		q := call.Question{Tool: path(r.Params, rule.Tool).String(), Input: json.RawMessage(path(r.Params, rule.Input).Raw)}
		answer, ok := answerOf(rule, r.Params, c.permits(t, q, free))
		if !ok {
			_ = r.Refuse(c.running, &wire.Error{Message: "the CLI offered no option that fits the answer"}) // it may have ended
			return
		}
		_ = r.Answer(c.running, answer) // it may have ended
	})
	return true
}

// permits decides a question of a turn. If the access level does not decide it, the caller does. A question
// between two turns is denied. free is called when nothing uses the question any more.
func (c *CLI) permits(t *turn, q call.Question, free func()) bool {
	access := c.plan.Invocation.Call.Access
	if access != call.AccessWrite || c.plan.Permit == nil || t.ctx == nil {
		free()
		return access == call.AccessFull
	}
	ctx, cancel := context.WithCancelCause(t.ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.running, func() { cancel(context.Cause(c.running)) })()
	answer := make(chan bool, 1)
	go func() { // permits does not wait for a function that ignores ctx
		defer free()
		defer close(answer)
		answer <- c.callPermit(ctx, t, q)
	}()
	select {
	case allow := <-answer:
		if ctx.Err() == nil {
			return allow
		}
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cut = true // before the CLI receives the denial
	return false
}

// cutOff reports whether a question of the CLI was denied because the turn ended.
func (t *turn) cutOff() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cut
}

// noAnswer is the last event of a turn that was cut off. It replaces an answer that the model gave without the
// denied tool.
func noAnswer(used call.Usage) *judge.Sign {
	return &judge.Sign{
		Item: decode.Item{Event: call.Event{Kind: call.EventResult, Failed: true, Usage: used}, Terminal: true}, Late: true,
	}
}

// callPermit calls the caller's function. If the function does not return normally, the question is denied and
// the turn gets a warning.
func (c *CLI) callPermit(ctx context.Context, t *turn, q call.Question) (allow bool) {
	returned := false
	defer func() {
		if returned {
			return
		}
		how := "called runtime.Goexit"
		if v := recover(); v != nil {
			how = fmt.Sprintf("panicked at %s: %v", panicPlace(), v)
		}
		t.reading.Warn("OnPermission " + how + "; the question was denied")
	}()
	allow = c.plan.Permit(ctx, q)
	returned = true
	return allow
}

// panicPlace returns the file and the line of the panic that is being recovered.
func panicPlace() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for panicked := false; ; {
		f, more := frames.Next()
		if panicked && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if panicked = panicked || f.Function == "runtime.gopanic"; !more {
			return "an unknown position"
		}
	}
}

// answerOf returns the message that allows or denies a question. If the CLI offers options, it selects the
// first option of the matching kind.
func answerOf(rule clispec.AskRule, params json.RawMessage, allow bool) (answer json.RawMessage, ok bool) {
	template, kind := rule.Deny, rule.DenyKind
	if allow {
		template, kind = rule.Allow, rule.AllowKind
	}
	fields := compose.Fields{}
	fields.Set("input", cmp.Or(path(params, rule.Input).Raw, "{}"))
	if rule.Options != "" {
		matches := plaintext.Whole(kind)
		var found bool
		for _, option := range path(params, rule.Options).Array() {
			if found = matches.MatchString(option.Get(rule.OptionKind).String()); found {
				fields.Set("option", option.Get(rule.OptionID).String())
				break
			}
		}
		if !found {
			template = rule.Otherwise
		}
	}
	if template == "" {
		return nil, false
	}
	return json.RawMessage(fields.Expand(template)), true
}

// path returns the value at a path in the parameters, or no value if the path is empty.
func path(params json.RawMessage, at string) gjson.Result {
	if at == "" {
		return gjson.Result{}
	}
	return gjson.GetBytes(params, at)
}
