package otel

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const (
	// maxValues limits the values of each attribute of the metrics, and so the size of their labels in a database.
	maxValues = 100
	// maxValue limits the length of a value in bytes.
	maxValue = 128
)

// bounds limits the attributes of the metrics, because names of models and owners come from requests, and those of
// backends and windows from stores. Spans have the original values. It is safe for concurrent use.
type bounds struct {
	mu   sync.Mutex
	seen map[attribute.Key]map[string]struct{}
}

// set returns the attributes for a metric. A value that is too long or not printable becomes errorOther, and so does
// each new value of an attribute that already has maxValues.
func (b *bounds) set(attrs ...attribute.KeyValue) metric.MeasurementOption {
	b.mu.Lock()
	defer b.mu.Unlock()
	limited := make([]attribute.KeyValue, len(attrs))
	for i, a := range attrs {
		if a.Value.Type() == attribute.STRING && !b.admits(a.Key, a.Value.AsString()) {
			a = a.Key.String(errorOther)
		}
		limited[i] = a
	}
	return metric.WithAttributeSet(attribute.NewSet(limited...))
}

func (b *bounds) admits(key attribute.Key, value string) bool {
	if _, ok := b.seen[key][value]; ok {
		return true
	}
	if len(b.seen[key]) == maxValues || len(value) > maxValue || !isPrintable(value) {
		return false
	}
	if b.seen[key] == nil {
		b.seen[key] = map[string]struct{}{}
	}
	b.seen[key][strings.Clone(value)] = struct{}{}
	return true
}

func isPrintable(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
