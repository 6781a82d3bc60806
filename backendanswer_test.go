package clichain_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

func TestAnswersOfCustomBackends(t *testing.T) {
	req := clichain.Prompt("hi")
	req.Metadata = map[string]string{"id": "7"}
	everyKind(t, func(t *testing.T, backend func(string, answerFunc) clichain.Backend, cfg clichain.ChainConfig) {
		synctest.Test(t, func(t *testing.T) {
			b := backend("mine", func(context.Context, clichain.Request) (*clichain.Response, error) {
				time.Sleep(3 * time.Second)
				return &clichain.Response{
					Text: "hello", Usage: clichain.Usage{CostUSD: new(math.NaN())}, Metadata: map[string]string{"id": "of another call"},
				}, nil
			})
			resp, err := clichain.ChainOf([]clichain.Backend{b}, &cfg).Complete(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, "mine", resp.Backend)
			require.Equal(t, 3*time.Second, resp.Duration)
			require.Equal(t, req.Metadata, resp.Metadata)
			require.Nil(t, resp.Usage.CostUSD, "a cost that is no number is unknown")
		})
	})
}

func TestAnswersThatAreOfNoUse(t *testing.T) {
	for name, test := range map[string]struct {
		resp   *clichain.Response
		schema string
		reason clichain.Reason
	}{
		"empty":            {&clichain.Response{Text: " \n"}, "", clichain.ReasonEmpty},
		"nothing at all":   {nil, "", clichain.ReasonBadOutput},
		"not of the shape": {&clichain.Response{Text: `{"town":1}`}, cities, clichain.ReasonBadOutput},
		"no JSON":          {&clichain.Response{Text: "Paris"}, cities, clichain.ReasonBadOutput},
	} {
		t.Run(name, func(t *testing.T) {
			everyKind(t, func(t *testing.T, backend func(string, answerFunc) clichain.Backend, cfg clichain.ChainConfig) {
				b := backend("mine", func(context.Context, clichain.Request) (*clichain.Response, error) { return test.resp, nil })
				next := clichain.BackendFunc("next", answering("```json\n{\"city\":\"Paris\"}\n```"))
				req := clichain.Prompt("hi")
				req.Schema = []byte(test.schema)
				c := clichain.ChainOf([]clichain.Backend{b, next}, &cfg)
				resp, err := c.Complete(t.Context(), req)
				require.NoError(t, err)
				require.Equal(t, test.reason, resp.Attempts[0].Reason)
				if test.schema != "" {
					require.Equal(t, `{"city":"Paris"}`, resp.Text, "the JSON alone")
				}

				req.Access = clichain.AccessWrite
				_, err = clichain.ChainOf([]clichain.Backend{b, next}, &cfg).Complete(t.Context(), req)
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

// The chain works on copies: with -race, this fails when it does not.
func TestASharedResponse(t *testing.T) {
	shared := &clichain.Response{Text: `{"city":"Paris"}`, Warnings: make([]string, 1, 8), Attempts: make([]clichain.Attempt, 0, 8)}
	failure := &clichain.BackendError{Message: "shared too"}
	everyKind(t, func(t *testing.T, backend func(string, answerFunc) clichain.Backend, cfg clichain.ChainConfig) {
		list := []clichain.Backend{
			backend("fails", func(context.Context, clichain.Request) (*clichain.Response, error) { return nil, failure }),
			clichain.NewProvider(clichain.CliSpec{Name: "broken"}, nil),
			backend("a", func(context.Context, clichain.Request) (*clichain.Response, error) { return shared, nil }),
		}
		c := clichain.ChainOf([]clichain.Backend{clichain.ChainOf(list, &cfg)}, &cfg)
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				req := clichain.Prompt("hi")
				req.Schema, req.Metadata = []byte(cities), map[string]string{"a": "b"}
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
