package request

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/openai/internal/apierror"
)

// filled returns a body with n pieces between its head and its tail.
func filled(head, piece, tail string, n int) []byte {
	return []byte(head + strings.TrimSuffix(strings.Repeat(piece, n), ",") + tail)
}

// allocations counts the allocations of a single run, including those of concurrent goroutines.
func allocations(run func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

// TestElementsAreLimited checks that the parser allocates nothing for elements above the limit. A body of 8 MiB can
// contain 280 000 elements, and each parsed element costs a dozen allocations or more.
func TestElementsAreLimited(t *testing.T) {
	const perElement = 60
	for _, test := range []struct {
		name, head, piece, tail string
		elements                int // per piece
		parse                   func([]byte, *Policy) (*Request, *apierror.Error)
		param                   string
	}{
		{"messages", `{"messages":[`, `{"role":"user","content":"a"},`, `]}`, 1, ParseChat, "messages[10000]"},
		{"parts", `{"messages":[{"role":"user","content":[`, `{"type":"text","text":"a"},`, `]}]}`, 1, ParseChat,
			"messages[0].content"},
		{"messages of parts", `{"messages":[`,
			`{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"a"},`, 98) + `{"type":"text","text":"a"}]},`,
			`]}`, 100, ParseChat, "messages[100]"},
		{"input", `{"input":[`, `{"role":"user","content":"a"},`, `]}`, 1, ParseResponses, "input[10000]"},
		{"parts of input", `{"input":[{"role":"user","content":[`, `{"type":"input_text","text":"a"},`, `]}]}`, 1, ParseResponses,
			"input[0].content"},
	} {
		t.Run(test.name, func(t *testing.T) {
			allocs := func(elements int) float64 {
				body := filled(test.head, test.piece, test.tail, elements/test.elements)
				var failed *apierror.Error
				n := allocations(func() { _, failed = test.parse(body, new(Policy)) })
				require.NotNil(t, failed)
				require.Equal(t, "array_above_max_length", failed.Label())
				require.Equal(t, test.param, *failed.Param)
				require.Contains(t, failed.Message, "more than 10000 messages and parts of messages: join them")
				return n
			}
			few, many := allocs(maxElements+maxElements/10), allocs(2*maxElements)
			require.Less(t, few, float64(perElement*maxElements))
			require.Less(t, many-few, maxElements/10.0)
		})
	}
}

// TestElementsAtLimit checks that the parser reads a request at the limit completely.
func TestElementsAtLimit(t *testing.T) {
	message := `{"role":"user","content":"a"},`
	body := `{"messages":[` + strings.TrimSuffix(strings.Repeat(message, maxElements), ",") + `]}`
	q, err := ParseChat([]byte(body), new(Policy))
	require.Nil(t, err)
	require.Len(t, q.Messages, maxElements)
	for _, list := range []string{`1`, `"a"`, `{}`, `true`} {
		_, err := ParseChat([]byte(`{"messages":`+list+`}`), new(Policy))
		require.NotNil(t, err, list)
		require.Equal(t, "invalid_type", err.Label(), list)
		require.Equal(t, "messages", *err.Param)
	}
	q, err = ParseChat([]byte(`{"messages":null}`), new(Policy))
	require.Nil(t, err)
	require.Empty(t, q.Messages)
}

// TestLongFieldsAreSkipped checks that the parser skips a long value of a refused or ignored field.
func TestLongFieldsAreSkipped(t *testing.T) {
	for field, want := range map[string]string{"metadata": "", "tools": "unsupported_parameter"} {
		body := filled(`{"messages":[{"role":"user","content":"a"}],"`+field+`":[`, `"a",`, `]}`, 20_000)
		var failed *apierror.Error
		allocs := testing.AllocsPerRun(1, func() { _, failed = ParseChat(body, new(Policy)) })
		require.Less(t, allocs, 1000.0, field)
		if want == "" {
			require.Nil(t, failed)
		} else {
			require.Equal(t, want, failed.Label())
		}
	}
}
