"""Training: the loop, optimizers, rates, checkpoints, distillation and scaling laws."""
