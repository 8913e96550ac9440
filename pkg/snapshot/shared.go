package snapshot

// shared keeps one copy of label lists that many nodes have in common: the nodes of one type, pool and zone differ in
// their host name alone, which no later step reads.
type shared struct {
	byText map[string]Labels
	buf    []byte
}

func newShared() *shared { return &shared{byText: map[string]Labels{}} }

// labels returns a list equal to l, the same one for equal lists.
func (s *shared) labels(l Labels) Labels {
	if len(l) == 0 {
		return nil
	}
	s.buf = s.buf[:0]
	for _, e := range l {
		s.buf = append(append(s.buf, e.Key...), '\x00')
		s.buf = append(append(s.buf, e.Value...), '\x00')
	}
	if known, ok := s.byText[string(s.buf)]; ok {
		return known
	}
	s.byText[string(s.buf)] = l
	return l
}
