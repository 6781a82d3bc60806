package confine

import "testing"

// BenchmarkRules measures the rules of a call in a repository.
func BenchmarkRules(b *testing.B) {
	for _, level := range levels {
		b.Run(level.String(), func(b *testing.B) {
			m := newMachine(b, level)
			m.repository()
			for b.Loop() {
				if _, err := Rules(m.in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(m.rules())), "rules")
		})
	}
}

// BenchmarkWatch measures both comparisons of the watched files.
func BenchmarkWatch(b *testing.B) {
	m := newMachine(b, write)
	m.repository()
	for b.Loop() {
		w := Watch(m.in)
		w.Changed()
	}
}
