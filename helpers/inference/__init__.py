"""What is done with a trained model: decoding and evaluation."""
