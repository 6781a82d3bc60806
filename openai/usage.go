package openai

import "github.com/clichain/clichain"

// chatUsage is what an answer consumed, in the words of chat completions.
type chatUsage struct {
	Prompt     int64            `json:"prompt_tokens"`
	Completion int64            `json:"completion_tokens"`
	Total      int64            `json:"total_tokens"`
	In         map[string]int64 `json:"prompt_tokens_details"`
	Out        map[string]int64 `json:"completion_tokens_details"`
}

func chatUsageOf(u clichain.Usage) *chatUsage {
	return &chatUsage{
		u.InputTokens, u.OutputTokens, u.InputTokens + u.OutputTokens,
		map[string]int64{"cached_tokens": u.CacheReadTokens}, map[string]int64{"reasoning_tokens": u.ReasoningTokens},
	}
}

// responseUsage is the same in the words of responses.
type responseUsage struct {
	Input  int64            `json:"input_tokens"`
	Cached map[string]int64 `json:"input_tokens_details"`
	Output int64            `json:"output_tokens"`
	Out    map[string]int64 `json:"output_tokens_details"`
	Total  int64            `json:"total_tokens"`
}

func responseUsageOf(u clichain.Usage) *responseUsage {
	return &responseUsage{
		u.InputTokens, map[string]int64{"cached_tokens": u.CacheReadTokens},
		u.OutputTokens, map[string]int64{"reasoning_tokens": u.ReasoningTokens}, u.InputTokens + u.OutputTokens,
	}
}
