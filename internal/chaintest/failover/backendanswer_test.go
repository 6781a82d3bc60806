package failover_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/chaintest"
)

func TestAnswersOfCustomBackends(t *testing.T) {
	t.Parallel()
	req := clichain.Prompt("hi")
	req.Metadata = map[string]string{"id": "7"}
	everyKind(t, func(t *testing.T, backend func(string, answerFunc) clichain.Backend) {
		synctest.Test(t, func(t *testing.T) {
			b := backend("mine", func(context.Context, clichain.Request) (*clichain.Response, error) {
				time.Sleep(3 * time.Second)
				return &clichain.Response{
					Text: "hello", Usage: clichain.Usage{CostUSD: new(math.NaN())}, Metadata: map[string]string{"id": "of another call"},
				}, nil
			})
			resp, err := clichain.ChainOf([]clichain.Backend{b}, nil).Complete(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, "mine", resp.Backend)
			require.Equal(t, 3*time.Second, resp.Duration)
			require.Equal(t, req.Metadata, resp.Metadata)
			require.Nil(t, resp.Usage.CostUSD, "a cost that is no number is unknown")
		})
	})
}

func TestAnswersThatAreOfNoUse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		resp   *clichain.Response
		schema string
		reason clichain.Reason
	}{
		"empty":            {&clichain.Response{Text: " \n"}, "", clichain.ReasonEmpty},
		"nothing at all":   {nil, "", clichain.ReasonBadOutput},
		"not of the shape": {&clichain.Response{Text: `{"town":1}`}, chaintest.Cities, clichain.ReasonBadOutput},
		"no JSON":          {&clichain.Response{Text: "Paris"}, chaintest.Cities, clichain.ReasonBadOutput},
	} {
		t.Run(name, func(t *testing.T) {
			everyKind(t, func(t *testing.T, backend func(string, answerFunc) clichain.Backend) {
				b := backend("mine", func(context.Context, clichain.Request) (*clichain.Response, error) { return test.resp, nil })
				next := clichain.BackendFunc("next", answering("```json\n{\"city\":\"Paris\"}\n```"))
				req := clichain.Prompt("hi")
				req.Schema = []byte(test.schema)
				c := clichain.ChainOf([]clichain.Backend{b, next}, nil)
				resp, err := c.Complete(t.Context(), req)
				require.NoError(t, err)
				require.Equal(t, test.reason, resp.Attempts[0].Reason)
				if test.schema != "" {
					require.Equal(t, `{"city":"Paris"}`, resp.Text, "the JSON alone")
				}

				req.Access = clichain.AccessWrite
				_, err = clichain.ChainOf([]clichain.Backend{b, next}, nil).Complete(t.Context(), req)
				if test.resp == nil {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, test.reason.Err(), "what was asked for may have been done")
				require.ErrorContains(t, err, "may have used a tool that changed something")
			})
		})
	}
}

// The chain works on copies. With -race, this test fails if it does not.
func TestASharedResponse(t *testing.T) {
	t.Parallel()
	shared := &clichain.Response{Text: `{"city":"Paris"}`, Warnings: make([]string, 1, 8), Attempts: make([]clichain.Attempt, 0, 8)}
	failure := &clichain.BackendError{Message: "shared too"}
	everyKind(t, func(t *testing.T, backend func(string, answerFunc) clichain.Backend) {
		list := []clichain.Backend{
			backend("fails", func(context.Context, clichain.Request) (*clichain.Response, error) { return nil, failure }),
			clichain.NewProvider(clichain.CliSpec{Name: "broken"}, nil),
			backend("a", func(context.Context, clichain.Request) (*clichain.Response, error) { return shared, nil }),
		}
		c := clichain.ChainOf([]clichain.Backend{clichain.ChainOf(list, nil)}, nil)
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				req := clichain.Prompt("hi")
				req.Schema, req.Metadata = []byte(chaintest.Cities), map[string]string{"a": "b"}
				resp, err := c.Complete(t.Context(), req)
				if err == nil && len(resp.Attempts) != 2 {
					err = fmt.Errorf("%d attempts", len(resp.Attempts))
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
	})
	require.Equal(t, &clichain.Response{Text: `{"city":"Paris"}`, Warnings: []string{""}, Attempts: []clichain.Attempt{}}, shared)
	require.Equal(t, &clichain.BackendError{Message: "shared too"}, failure)
}

// careless is a backend whose stream continues after its reader has stopped.
type careless struct {
	custom
	says []any // an answer's text, or an error
}

func (careless) Name() string { return "careless" }

func (c careless) Stream(context.Context, clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		for _, said := range c.says {
			switch said := said.(type) {
			case error:
				yield(clichain.Event{}, said)
			case string:
				yield(clichain.Event{Kind: clichain.EventDone, Response: &clichain.Response{Text: said}}, nil)
			}
		}
	}
}

// Events after the end of a stream are dropped.
func TestStreamThatGoesOnAfterItsEnd(t *testing.T) {
	t.Parallel()
	failure := &clichain.BackendError{Reason: clichain.ReasonRateLimited}
	for name, test := range map[string]struct {
		says []any
		want string
	}{
		"answers":         {[]any{"one", "two"}, "one"},
		"answer, failure": {[]any{"one", failure}, "one"},
		"failure, answer": {[]any{failure, "two"}, "other"},
		"failures":        {[]any{failure, errors.New("more")}, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := clichain.ChainOf(
				[]clichain.Backend{careless{says: test.says}, clichain.BackendFunc("b", answering("other"))}, nil,
			).Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, test.want, resp.Text)
			for _, a := range resp.Attempts {
				require.Equal(t, clichain.ReasonRateLimited, a.Reason)
			}
		})
	}
}
