package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai/internal/request"
)

// TestAnswersAreBounded checks that new answers replace the oldest ones, by number and by size.
func TestAnswersAreBounded(t *testing.T) {
	a := newAnswers()
	keep := func(id int, text string) {
		a.keep(&request.Request{ID: fmt.Sprint(id), Keep: true}, &call.Response{Text: text})
	}
	has := func(id int) bool { _, ok := a.recall(fmt.Sprintf("msg_%d", id)); return ok }
	for id := range maxAnswers + 5 {
		keep(id, "x")
	}
	require.False(t, has(4))
	require.True(t, has(5))
	large := strings.Repeat("x", maxAnswerBytes-10)
	keep(5000, large)
	require.True(t, has(5000))
	require.True(t, has(maxAnswers+4))
	require.False(t, has(maxAnswers-10), "the large answer replaces all but the ten latest")
	keep(5001, large+large)
	require.False(t, has(5001))
	require.True(t, has(5000))
	require.Len(t, a.texts, 11)
	require.Len(t, a.ids, 11)
	require.Equal(t, maxAnswerBytes, a.bytes)
}
