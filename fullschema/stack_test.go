package fullschema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/clichain/clichain/fullschema"
	"github.com/clichain/clichain/internal/structured"
)

// Without a limit, a schema of 60 kB and an answer of 400 bytes ended the program: a stack overflow is not recoverable.
func TestLongReferenceChains(t *testing.T) {
	chain := func(n int, last string) json.RawMessage {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/$defs/0","$defs":{`)
		for i := range n {
			fmt.Fprintf(&b, `"%d":{"$ref":"#/$defs/%d"},`, i, i+1)
		}
		fmt.Fprintf(&b, `"%d":%s}}`, n, last)
		return json.RawMessage(b.String())
	}
	list := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	const long = "validating it against the schema takes too long"
	for name, test := range map[string]struct {
		schema json.RawMessage
		answer string
		says   string
	}{
		"long chain at each level":       {chain(2000, `{"items":{"$ref":"#"}}`), list(200), long},
		"long chain with a small answer": {chain(2000, `{"items":{"$ref":"#"}}`), list(2), ""},
		"chain with a deep answer":       {chain(200, `{"items":{"$ref":"#"}}`), list(200), ""},
		"dynamic references":             {chain(600, `{"prefixItems":[{"$ref":"#"}],"contains":{"$dynamicRef":"#"}}`), list(200), long},
		"below other keywords":           {chain(600, `{"patternProperties":{"a":{"if":{"not":{"$ref":"#"}}}}}`), strings.Repeat(`{"a":`, 199) + `1` + strings.Repeat(`}`, 199), long},
		"a cycle":                        {chain(300, `{"$ref":"#/$defs/0"}`), `1`, "at the top: both "},
	} {
		t.Run(name, func(t *testing.T) {
			s, failed := structured.Compile(test.schema)
			require.Nil(t, failed)
			_, problem := s.Accept(test.answer)
			if test.says == "" {
				require.Empty(t, problem)
			}
			require.Contains(t, problem, test.says)
		})
	}
}
