package request

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/clichain/clichain/openai/internal/apierror"
)

const (
	maxStops     = 4
	maxStopBytes = 4096 // of one text; a stream holds back up to this much
)

// stopTexts reads the field stop, which is a text or a list of texts. Empty texts have no effect.
func stopTexts(data json.RawMessage) ([]string, *apierror.Error) {
	var one string
	if data == nil || json.Unmarshal(data, &one) == nil {
		return checkStops([]string{one})
	}
	var list elements
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, apierror.Field("stop", "invalid_type", "write a text, or a list of texts")
	}
	if len(list) > maxStops {
		return nil, apierror.Field("stop", "array_above_max_length", "there are more than %d texts", maxStops)
	}
	stops := make([]string, len(list))
	for i, element := range list {
		if json.Unmarshal(element, &stops[i]) != nil {
			return nil, apierror.Field("stop", "invalid_type", "write a text, or a list of texts")
		}
	}
	return checkStops(stops)
}

// checkStops removes empty texts. Half a surrogate pair, which JSON decoders replace, is no text.
func checkStops(stops []string) ([]string, *apierror.Error) {
	for _, text := range stops {
		if len(text) > maxStopBytes {
			return nil, apierror.Field("stop", "string_above_max_length", "a text has more than %d bytes", maxStopBytes)
		}
		if slices.Contains([]rune(text), utf8.RuneError) {
			return nil, apierror.Field("stop", "invalid_value", "a text has half a surrogate pair, or U+FFFD")
		}
	}
	return slices.DeleteFunc(stops, func(text string) bool { return text == "" }), nil
}
