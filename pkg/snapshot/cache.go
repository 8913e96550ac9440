package snapshot

// LabelCache keeps one copy of label lists that many nodes have in common: the nodes of one type, pool and zone differ
// in their host name alone, which no later step reads. The zero value is ready to use.
type LabelCache struct {
	byText map[string]Labels
	text   []byte
}

// Share returns a list equal to l, the same one for equal lists; nil for an empty one. It must not be changed, since
// nodes share it; l itself is copied and may be used again.
func (c *LabelCache) Share(l Labels) Labels {
	if len(l) == 0 {
		return nil
	}
	c.text = c.text[:0]
	for _, e := range l {
		c.text = append(append(c.text, e.Key...), '\x00')
		c.text = append(append(c.text, e.Value...), '\x00')
	}
	if known, ok := c.byText[string(c.text)]; ok {
		return known
	}
	if c.byText == nil {
		c.byText = map[string]Labels{}
	}
	list := append(make(Labels, 0, len(l)), l...)
	c.byText[string(c.text)] = list
	return list
}
