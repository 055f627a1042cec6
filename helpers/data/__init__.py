"""What models read: corpora, tokenizers, batches, and sources whose entropy is known."""
