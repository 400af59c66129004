"""Two classes and two outputs by quadrature."""
