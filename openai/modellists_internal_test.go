package openai

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestModelListsForget checks that a list whose request ended early is read again.
func TestModelListsForget(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	lists := modelLists{busy: make(chan struct{}, 1), read: func(context.Context) []string {
		cancel()
		return []string{"incomplete"}
	}}
	require.Empty(t, lists.get(ctx))
	lists.read = func(context.Context) []string { return []string{"one/a"} }
	require.Equal(t, []string{"one/a"}, lists.get(t.Context()))
}

// TestModelListsWait checks that a request waits for the list of another one, until its context ends.
func TestModelListsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		lists := modelLists{busy: make(chan struct{}, 1), read: func(context.Context) []string {
			<-proceed
			return []string{"one/a"}
		}}
		go lists.get(t.Context())
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Empty(t, lists.get(ctx))
		close(proceed)
		require.Equal(t, []string{"one/a"}, lists.get(t.Context()))
	})
}
