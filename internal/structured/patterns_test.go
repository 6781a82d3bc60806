package structured_test

import (
	"encoding/json"
	"fmt"
	"regexp/syntax"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/structured"
	"github.com/clichain/clichain/internal/testtime"
)

// withPattern returns a schema with one pattern.
func withPattern(pattern string) string {
	text, _ := json.Marshal(pattern)
	return `{"pattern":` + string(text) + `}`
}

// manyPatterns returns a schema with n different patterns, in which %d is the number of the pattern.
func manyPatterns(n int, pattern string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = withPattern(fmt.Sprintf(pattern, i))
	}
	return `{"anyOf":[` + strings.Join(parts, ",") + `]}`
}

// Without limits, this schema of 83 kB took 40 s and 4.75 GB to compile.
func TestPatternBombIsRefused(t *testing.T) {
	bomb := "(" + strings.Repeat(".?", 41_500) + "){1000}"
	quoted, _ := json.Marshal(bomb)
	for name, test := range map[string]struct{ schema, place string }{
		"pattern":           {withPattern(bomb), "/pattern"},
		"patternProperties": {`{"patternProperties":{` + string(quoted) + `:{}}}`, "/patternProperties"},
		"below":             {`{"properties":{"a/b~c":{"items":` + withPattern(bomb) + `}}}`, "/properties/a~1b~0c/items/pattern"},
		"in a list":         {`{"anyOf":[{},` + withPattern(bomb) + `]}`, "/anyOf/1/pattern"},
		"in data":           {`{"$ref":"#/default","default":` + withPattern(bomb) + `}`, "/default/pattern"},
		"an older draft":    {`{"$schema":"http://json-schema.org/draft-04/schema#","not":` + withPattern(bomb) + `}`, "/not/pattern"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := structured.Compile([]byte(test.schema))
			testtime.Within(t, start, 10*time.Second)
			require.NotNil(t, err)
			require.Equal(t, call.ReasonBadOption, err.Reason)
			require.Equal(t, "schema", err.Option)
			require.Equal(t, `at '`+test.place+`': the pattern "(.?.?.?.?.?.?.?.?.?.?.?.?.?.?.…" `+
				`has 83008 bytes, the maximum is 1000: write a shorter pattern`, err.Message)
		})
	}
}

func TestPatternLimits(t *testing.T) {
	const far = "compiles to"
	for name, test := range map[string]struct{ schema, says string }{
		"longest":                          {withPattern(strings.Repeat("x", 1000)), ""},
		"too long":                         {withPattern(strings.Repeat("x", 1001)), "has 1001 bytes, the maximum is 1000"},
		"too long and invalid":             {withPattern(strings.Repeat("(", 1001)), "has 1001 bytes, the maximum is 1000"},
		"no pattern":                       {withPattern("(?=x)"), "is not valid regex"},
		"more repetitions than Go accepts": {withPattern("(?:.{10}){1000}"), "invalid repeat count"},
		"just small enough":                {withPattern("(?:xxxxxxxxxx){1000}"), ""},
		"one too large":                    {withPattern("(?:xxxxxxxxxx){1000}y"), far + " 10001 instructions, the maximum is 10000: use fewer repetitions"},
		"repeated from":                    {withPattern("(?:xxxxxxxxxxx){1000,}"), far + " 11001"},
		"repeated up to":                   {withPattern("(?:xxxxxxxxxx){0,1000}"), far + " 11000"},
		"classes":                          {withPattern("(?:[a-z][0-9a-f]\\pL.){900}[^x]{900}" + strings.Repeat(".{1000}", 6)), far + " 10500"},
		"captures":                         {withPattern("((((x)))){1000}" + strings.Repeat("(x){1000}", 2)), far + " 15000"},
		"pattern as a property name":       {`{"items":{"patternProperties":{"(?:xxxxxxxxxxx){1000}":{}}}}`, `at '/items/patternProperties': the pattern "(?:xxxxxxxxxxx){1000}" ` + far},
		"maximum number of patterns":       {manyPatterns(1000, "^%d$"), ""},
		"one pattern too many":             {manyPatterns(1001, "^%d$"), "has more than 1000 different patterns: use fewer"},
		"repeated pattern":                 {`{"anyOf":[` + strings.Repeat(withPattern("^x$")+",", 3000) + `{}]}`, ""},
		"too large in total":               {manyPatterns(11, "x%03d(?:xxxxxxxxxx){999}"), "compile to more than 100000 instructions in total: use fewer"},
		"nearly too large in total":        {manyPatterns(10, "x%03d(?:xxxxxxxxxx){999}"), ""},
		"a property, a name":               {`{"properties":{"pattern":{"type":"string"},"patternProperties":{"pattern":"a"}}}`, ""},
		"data":                             {`{"const":` + withPattern(strings.Repeat("x", 2000)) + `}`, ""},
		"no text":                          {`{"pattern":7}`, "at '/pattern': got number, want string"},
		"a date":                           {withPattern(`^\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$`), ""},
		"words in any script":              {withPattern(`^[\p{L}\p{N} ._-]{1,255}$`), ""},
		"mail address":                     {withPattern(`(?i)^[a-z0-9.!#$%&'*+/=?^_{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$`), ""},
		"a UUID":                           {withPattern(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`), ""},
		"base64 of some length":            {withPattern(`^(?:[A-Za-z0-9+/]{4}){0,250}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := structured.Compile([]byte(test.schema))
			testtime.Within(t, start, 10*time.Second)
			if test.says == "" {
				require.Nil(t, err)
				return
			}
			require.NotNil(t, err)
			require.Equal(t, call.ReasonBadOption, err.Reason)
			require.Equal(t, "schema", err.Option)
			require.Contains(t, err.Message, test.says)
			require.NotContains(t, err.Message, "\n")
		})
	}
}

// The estimate is never far below the real number of instructions.
func TestPatternSteps(t *testing.T) {
	for _, pattern := range []string{
		"", "abc", "(?i)abc", "a|b|cd|ce", "[a-z]{3,7}x*", "(a+|(b?c){2,}){1,30}", "(?:(?:x*)*)+", `^\d{4}(-\d\d){2}\b.$`, "((((x)))){99}", "(?:(|a|b)*){5}",
	} {
		t.Run(pattern, func(t *testing.T) {
			tree, err := syntax.Parse(pattern, syntax.Perl)
			require.NoError(t, err)
			program, err := syntax.Compile(tree.Simplify())
			require.NoError(t, err)
			require.LessOrEqual(t, len(program.Inst), structured.StepsOf(tree)+structured.StepsOf(tree)/2+2)
		})
	}
}

// An answer can contain patterns. The same limits apply to them, separately for each answer.
func TestPatternsInAnswers(t *testing.T) {
	s, err := structured.Compile([]byte(`{"items":{"format":"regex","pattern":"^.?"}}`))
	require.Nil(t, err)
	large := make([]string, 11)
	for i := range large {
		large[i] = fmt.Sprintf(`"x%03d(?:xxxxxxxxxx){999}"`, i)
	}
	for range 2 {
		_, problem := s.Accept(`["(?:xxxxxxxxxxx){1000}"]`)
		require.Contains(t, problem, "is not valid regex: compiles to 11000 instructions")
		_, problem = s.Accept(`["` + strings.Repeat("x", 1001) + `"]`)
		require.NotEmpty(t, problem)
		_, problem = s.Accept(`[` + strings.Join(large, ",") + `]`)
		require.Contains(t, problem, "more than 100000 instructions in total")
		_, problem = s.Accept(`[` + strings.Join(large[:10], ",") + `]`)
		require.Empty(t, problem)
	}
}
