package login

import (
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
)

// Untrusted returns the folder unless the CLI trusts it, or one above it, by
// the facts of its spec. A CLI that never kept a trusted folder is not asked.
func Untrusted(trust []clispec.FileFact, at grammar.Place) (folder string, ok bool) {
	for _, fact := range trust {
		for _, dir := range grammar.Upward(at.Dir, "") {
			f := fact
			f.Pattern = strings.ReplaceAll(fact.Pattern, "{dir}", regexp.QuoteMeta(dir))
			f.JSON = map[string]string{}
			for path, value := range fact.JSON {
				f.JSON[strings.ReplaceAll(path, "{dir}", gjson.Escape(dir))] = value
			}
			compiled := compileFact(f)
			if new(factReader).look(&compiled, at).known != absent {
				return "", false
			}
		}
	}
	return at.Dir, len(trust) > 0
}
