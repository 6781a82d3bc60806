package otel

import (
	"math"

	"github.com/clichain/clichain"
	"go.opentelemetry.io/otel/attribute"
)

// usageAttributes returns the known counts as attributes.
func usageAttributes(u clichain.Usage) (attrs []attribute.KeyValue) {
	for _, count := range []struct {
		key attribute.Key
		n   int64
	}{
		{keyInputTokens, u.InputTokens}, {keyOutputTokens, u.OutputTokens}, {keyReasoningTokens, u.ReasoningTokens},
		{keyCacheRead, u.CacheReadTokens}, {keyCacheCreation, u.CacheWriteTokens},
	} {
		if count.n > 0 {
			attrs = append(attrs, count.key.Int64(count.n))
		}
	}
	if usd, ok := costOf(u); ok {
		attrs = append(attrs, keyCost.Float64(usd))
	}
	return attrs
}

// costOf returns the cost in US dollars. ok is false if the cost is unknown, negative or infinite, because a counter
// only increases.
func costOf(u clichain.Usage) (usd float64, ok bool) {
	if u.CostUSD == nil {
		return 0, false
	}
	return *u.CostUSD, *u.CostUSD >= 0 && !math.IsInf(*u.CostUSD, 0)
}

func agentAttributes(backend, reason string) []attribute.KeyValue {
	return appendText([]attribute.KeyValue{keyAgent.String(backend)}, keyError, reason)
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = string(text)
	}
	return out
}
