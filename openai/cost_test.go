package openai

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// filled is a body of 8 MiB: as many pieces as fit between its head and its tail.
func filled(head, piece, tail string) []byte {
	n := (defaultMaxBodyBytes - len(head) - len(tail)) / len(piece)
	return []byte(head + strings.TrimSuffix(strings.Repeat(piece, n), ",") + tail)
}

// TestPiecesAreBounded: a large body of small pieces costs no more than a large body of text. A piece took a dozen
// allocations or more, and some microseconds; there is room for 280 000 of them in a body.
func TestPiecesAreBounded(t *testing.T) {
	const perPiece = 60
	for _, test := range []struct {
		name, head, piece, tail string
		api                     api
		param                   string
	}{
		{"messages", `{"messages":[`, `{"role":"user","content":"a"},`, `]}`, chatAPI, "messages[10000]"},
		{"parts", `{"messages":[{"role":"user","content":[`, `{"type":"text","text":"a"},`, `]}]}`, chatAPI,
			"messages[0].content"},
		{"messages of parts", `{"messages":[`,
			`{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"a"},`, 98) + `{"type":"text","text":"a"}]},`,
			`]}`, chatAPI, "messages[100]"},
		{"input", `{"input":[`, `{"role":"user","content":"a"},`, `]}`, responsesAPI, "input[10000]"},
		{"parts of input", `{"input":[{"role":"user","content":[`, `{"type":"input_text","text":"a"},`, `]}]}`, responsesAPI,
			"input[0].content"},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := filled(test.head, test.piece, test.tail)
			var failed *apiError
			allocs := testing.AllocsPerRun(1, func() { _, failed = test.api.read(body, nil) })
			require.NotNil(t, failed)
			require.Equal(t, "array_above_max_length", failed.code())
			require.Equal(t, test.param, *failed.Param)
			require.Contains(t, failed.Message, "more than 10000 messages and parts of messages: join them")
			require.Less(t, allocs, float64(perPiece*maxPieces))
		})
	}
}

// TestPieces: as many as are allowed are read, and each of them is there.
func TestPieces(t *testing.T) {
	message := `{"role":"user","content":"a"},`
	body := `{"messages":[` + strings.TrimSuffix(strings.Repeat(message, maxPieces), ",") + `]}`
	q, err := readChat([]byte(body), nil)
	require.Nil(t, err)
	require.Len(t, q.req.Messages, maxPieces)
	for _, list := range []string{`1`, `"a"`, `{}`, `true`} {
		_, err := readChat([]byte(`{"messages":`+list+`}`), nil)
		require.NotNil(t, err, list)
		require.Equal(t, "invalid_type", err.code(), list)
		require.Equal(t, "messages", *err.Param)
	}
	q, err = readChat([]byte(`{"messages":null}`), nil)
	require.Nil(t, err)
	require.Empty(t, q.req.Messages)
}

// TestLongFieldsAreNotRead: a field that is refused or ignored is not parsed for its own sake.
func TestLongFieldsAreNotRead(t *testing.T) {
	for field, want := range map[string]string{"metadata": "", "tools": "unsupported_parameter"} {
		body := filled(`{"messages":[{"role":"user","content":"a"}],"`+field+`":[`, `"a",`, `]}`)
		var failed *apiError
		allocs := testing.AllocsPerRun(1, func() { _, failed = readChat(body, nil) })
		require.Less(t, allocs, 1000.0, field)
		if want == "" {
			require.Nil(t, failed)
		} else {
			require.Equal(t, want, failed.code())
		}
	}
}
