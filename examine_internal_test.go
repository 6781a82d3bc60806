package clichain

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestChainValidatesBackendsDuringTheFirstCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *Chain
		first := BackendFunc("first", func(context.Context, Request) (*Response, error) {
			synctest.Wait()
			c.validated.Do(func() { t.Error("the chain waits for the answer before it validates its backends") })
			return &Response{Text: "42"}, nil
		})
		c = ChainOf([]Backend{first, NewProvider(CliSpec{Name: "second"}, nil)}, nil)
		resp, err := c.Complete(t.Context(), Prompt("What is the answer?"))
		require.NoError(t, err)
		require.Len(t, resp.Warnings, 1)
		require.Contains(t, resp.Warnings[0], "misconfigured, and skipped: second")
	})
}
