package clichain

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/specs"
)

// A backend that is not asked is checked for mistakes, which the answer names, but not compiled.
func TestABackendThatIsNotAskedIsNotCompiled(t *testing.T) {
	first := BackendFunc("first", func(context.Context, Request) (*Response, error) { return &Response{Text: "hi"}, nil })
	backends := []Backend{first}
	var providers []*Provider
	for _, spec := range append(specs.All(), CliSpec{Name: "mistyped"}) {
		p := NewProvider(spec, nil)
		backends, providers = append(backends, p), append(providers, p)
	}
	chain := ChainOf(backends, nil)
	resp, err := chain.Complete(t.Context(), Prompt("hi"))
	require.NoError(t, err)
	require.Len(t, resp.Warnings, 1)
	require.Contains(t, resp.Warnings[0], "mistyped")
	for _, p := range providers {
		require.Nil(t, p.impl.Composer, p.Name())
	}
	require.Error(t, chain.Validate())
	for _, p := range providers {
		require.Nil(t, p.impl.Composer, p.Name())
	}
	req := Prompt("hi")
	req.Model = "of nobody"
	_, err = chain.Complete(t.Context(), req)
	require.NoError(t, err)
	require.NotNil(t, providers[0].impl.Composer, "a model may be its own")
}
