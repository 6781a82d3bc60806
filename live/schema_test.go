package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/clichain/clichain/live"
)

var wordSchema = json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}},"required":["word"],"additionalProperties":false}`)

const word = `{"word":"x"}`

func withSchema(access clichain.Access, dir string) *live.Config {
	return &live.Config{Request: clichain.Request{Schema: wordSchema, Access: access, Dir: dir}}
}

func TestSessionAnswerMatchesSchema(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		access   clichain.Access
		text     string
		want     string // "": bad_output
		repaired bool
		asked    int
		acted    bool
	}{
		"valid":                     {text: "say " + word, want: word, asked: 1},
		"valid in a fence":          {text: "say ```json\n" + word + "\n```", want: word, asked: 1},
		"corrected":                 {text: "mend Hello " + word, want: word, repaired: true, asked: 2},
		"not corrected":             {text: "mend Hello Hello", asked: 2},
		"tool may act twice":        {access: clichain.AccessWrite, text: "act Hello " + word, asked: 1, acted: true},
		"tool that only reads":      {access: clichain.AccessRead, text: "act Hello " + word, want: word, repaired: true, asked: 2},
		"valid after tools":         {access: clichain.AccessWrite, text: "act " + word + " never", want: word, asked: 1},
		"wrong field, then no JSON": {text: `mend {"wrod":1} none`, asked: 2},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, dialect string) {
				for range max(*isolationRuns/len(dialects), 1) {
					sessionMeetsSchema(t, dialect, test.access, test.text, test.want, test.repaired, test.asked, test.acted)
				}
			})
		})
	}
}

func sessionMeetsSchema(t *testing.T, dialect string, access clichain.Access, text, want string, repaired bool, asked int, acted bool) {
	t.Helper()
	dir := ""
	if access != clichain.AccessNone {
		dir = t.TempDir()
	}
	s := startedBeside(t, dialect, "", patient, withSchema(access, dir))
	defer s.Kill()
	resp, err := s.Ask(t.Context(), text)
	if want == "" {
		failed := requireReason(t, clichain.ReasonBadOutput, err)
		require.Contains(t, failed.Message, "does not match the schema")
		require.Len(t, failed.Earlier, asked-1)
		require.Equal(t, acted, failed.SideEffects)
	} else {
		require.NoError(t, err)
		require.Equal(t, want, resp.Text)
		require.Len(t, resp.Attempts, asked-1)
		require.Equal(t, repaired, len(resp.Flags) == 1 && resp.Flags[0] == call.FlagRepaired)
	}
	resp, err = s.Ask(t.Context(), `say {"word":"next"}`)
	require.NoError(t, err, "the session goes on")
	require.Equal(t, `{"word":"next"}`, resp.Text)
	require.Equal(t, 2, s.Status().Turns)
}

// The readers of a session receive the text of the final answer, and a reset of the invalid one.
func TestEventsOfCorrectedAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		s := started(t, dialect, "", withSchema(clichain.AccessNone, ""))
		type seen struct {
			text     string
			attempts []error
		}
		turns := make(chan seen, 1000)
		go func() {
			defer close(turns)
			var now seen
			for e := range s.Events() {
				switch e.Kind {
				case clichain.EventDelta, clichain.EventText:
					now.text += e.Text
				case clichain.EventReset:
					now.text = ""
				case clichain.EventAttempt:
					now.attempts = append(now.attempts, e.Attempt.Err)
				case clichain.EventDone:
					turns <- now
					now = seen{}
				}
			}
		}()
		var before int64
		for joined := false; !joined; { // until the loop over the events has begun
			turn, err := s.Send("say " + word)
			require.NoError(t, err)
			_, err = turn.Wait(t.Context())
			require.NoError(t, err)
			select {
			case <-turns:
				joined = true
			case <-time.After(time.Millisecond):
			}
			before = s.Status().Usage.InputTokens
		}
		turn, err := s.Send("mend Hello ```" + word + "```")
		require.NoError(t, err)
		shown := <-turns
		for len(shown.attempts) == 0 { // an earlier turn
			shown = <-turns
		}
		resp, err := turn.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, word, resp.Text)
		require.Equal(t, word, shown.text)
		require.Len(t, shown.attempts, 1)
		require.ErrorIs(t, shown.attempts[0], clichain.ErrBadOutput)
		require.EqualValues(t, before+6, s.Status().Usage.InputTokens, "of both")
	})
}

// slowly calls ask with a session whose agent takes the given part of the timeout for the answer to "mend slowly". It
// calls ask with longer timeouts while ask returns false because a busy machine needed too much of the timeout.
func slowly(t *testing.T, dialect string, part float64, ask func(s *live.Session, timeout time.Duration) bool) {
	t.Helper()
	chaintest.InTime(t, 9*time.Second, func(timeout time.Duration) bool {
		first := time.Duration(part * float64(timeout))
		cfg := clichain.Config{Timeout: timeout, Env: []string{fmt.Sprint("AGENT_FIRST=", first)}}
		return ask(startedBeside(t, dialect, "", cfg, withSchema(clichain.AccessNone, "")), timeout)
	})
}

// The correction has the rest of the turn's time.
func correctionSharesTurnTimeout(t *testing.T, dialect string) {
	slowly(t, dialect, 0.33, func(s *live.Session, timeout time.Duration) bool {
		began := time.Now()
		_, err := s.Ask(t.Context(), "mend slowly hang")
		if errors.Is(err, clichain.ErrBadOutput) {
			return false
		}
		requireReason(t, clichain.ReasonTimeout, err)
		testtime.Within(t, began, timeout+2*time.Second)
		return true
	})
}

// There is no correction if less time is left than the first answer took.
func correctionNeedsTime(t *testing.T, dialect string) {
	slowly(t, dialect, 0.61, func(s *live.Session, _ time.Duration) bool {
		_, err := s.Ask(t.Context(), "mend slowly "+word)
		if errors.Is(err, context.DeadlineExceeded) {
			return false
		}
		require.Empty(t, requireReason(t, clichain.ReasonBadOutput, err).Earlier)
		return true
	})
}

func TestSessionRefusesBadSchema(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	for schema, says := range map[string]string{`{"type":"strin"}`: "at '/type'", `{"contains":{}}`: "import _"} {
		s := live.New(agentOf(t, "acp", "", patient), &live.Config{Request: clichain.Request{Schema: json.RawMessage(schema)}})
		refused := requireReason(t, clichain.ReasonBadOption, s.Start(t.Context()))
		require.Equal(t, "schema", refused.Option)
		require.Contains(t, refused.Message, says)
		require.Equal(t, live.Error, s.Status().State)
	}
}

// A cold call repeats a call whose warm answer does not match the schema, and asks for the correction.
func TestPoolAnswerMatchesSchema(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		p, b := pooled(t, dialect, coldAgent, patient, nil)
		ask := func(text string) (*clichain.Response, error) {
			req := clichain.Prompt(text)
			req.Schema = wordSchema
			resp, err := b.Complete(t.Context(), req)
			idle(t, b, p)
			return resp, err
		}
		resp, err := ask("say ```" + word + "```")
		require.NoError(t, err)
		require.Equal(t, word, resp.Text)
		require.Equal(t, live.Stats{Processes: 1, Started: 1, Warm: 1}, p.Stats())
		resp, err = ask(`mend Hello {"word":"cold"}`)
		require.NoError(t, err)
		require.Equal(t, `{"word":"cold"}`, resp.Text)
		require.Equal(t, live.Stats{Processes: 1, Started: 1, Warm: 1, Cold: 1}, p.Stats())
		_, err = ask("mend Hello Hello")
		requireReason(t, clichain.ReasonBadOutput, err)
	})
}

// The answers of warm and cold processes count together toward the limit of a call.
func TestPoolLimitsMisfits(t *testing.T) {
	t.Parallel()
	p, b := pooled(t, "acp", coldAgent, patient, nil)
	_, err := b.Complete(t.Context(), clichain.Prompt("say x"))
	require.NoError(t, err)
	for limit, want := range map[int32]struct{ cold, corrections int }{1: {0, 0}, 2: {1, 0}, 3: {1, 1}} {
		idle(t, b, p)
		before := p.Stats()
		req := clichain.Prompt("mend Hello Hello")
		req.Schema = wordSchema
		_, err := b.Complete(chainview.WithMisfits(t.Context(), limit), req)
		failed := requireReason(t, clichain.ReasonBadOutput, err)
		require.Len(t, failed.Earlier, want.corrections, limit)
		require.Equal(t, want.cold, p.Stats().Cold-before.Cold, limit)
	}
}
