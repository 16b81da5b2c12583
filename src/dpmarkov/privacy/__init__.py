"""What is promised: units, budgets, guarantees and the exact accounting behind them."""
