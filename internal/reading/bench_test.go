package reading

import (
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// BenchmarkJudgeText classifies a failure with the maximum amount of stderr that is searched.
func BenchmarkJudgeText(b *testing.B) {
	engine := interpreterOf(b, specs.Claude())
	text := strings.Repeat("    at Module._compile (node:internal/modules/cjs/loader:1554:14)\n", 32<<10/66)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, ok := engine.judgeText(clispec.OnStderr, text, time.Time{}); ok {
			b.Fatal("found")
		}
	}
}
